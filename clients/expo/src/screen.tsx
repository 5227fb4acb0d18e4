/** The one screen: start, the talk, the order, and the controls. */

import type { Command, Order, OrderItem } from "@bella-vista/client";
import { useOrder } from "@bella-vista/client/react";
import type { AgentSession, Call } from "@typed-handoffs/client";
import {
  AgentSessionProvider,
  useActiveAgent,
  useAgentSession,
  useCall,
  useLines,
  usePushToTalk,
  useSnapshot,
  useTurn,
} from "@typed-handoffs/react";
import { useCallback, useEffect, useRef, useState } from "react";
import { AppState, Pressable, ScrollView, StyleSheet, Text, TextInput, View } from "react-native";
import { texts } from "./texts";

interface ScreenProps {
  /** The name of the house; null as long as it is not known. */
  house: string | null;
  call: Call;
  /** Make a session: for the first call, and after each one that was left. */
  openSession: () => AgentSession<Order, Command>;
  /** Turn the microphone on or off; rejects if it cannot be used. */
  onMicrophone: (on: boolean) => Promise<void>;
}

export function Screen({ house, call, openSession, onMicrophone }: ScreenProps) {
  const [session, setSession] = useState(openSession);
  const leave = () => {
    setSession(openSession()); // the next call has lines of its own
    void call.leave();
  };
  return (
    <AgentSessionProvider session={session}>
      <View style={styles.screen}>
        {house && (
          <Text accessibilityRole="header" style={styles.title}>
            {house}
          </Text>
        )}
        <InAndOut call={call} onLeave={leave} onMicrophone={onMicrophone} />
      </View>
    </AgentSessionProvider>
  );
}

interface CallProps {
  call: Call;
  onLeave: () => void;
  onMicrophone: (on: boolean) => Promise<void>;
}

function InAndOut({ call, ...on }: CallProps) {
  const { status, fault } = useCall(call);
  const { hello } = useSnapshot();
  const lost = status === "lost";
  // A call that was lost keeps its lines and its order on the screen.
  const inCall = status !== "out" && (!lost || hello !== null);
  return (
    <>
      {fault && (
        <Text accessibilityRole="alert" style={styles.alert}>
          {texts.fault[fault]}
        </Text>
      )}
      {(status === "out" || lost) && (
        <Button label={inCall ? texts.joinAgain : texts.start} onPress={() => void call.join()} />
      )}
      {inCall && <InCall {...on} />}
    </>
  );
}

function InCall({ onLeave, onMicrophone }: Omit<CallProps, "call">) {
  const { status, problem, ended } = useSnapshot<Order>();
  const agent = useActiveAgent();
  const turn = useTurn();
  const ready = status === "ready";
  return (
    <>
      <View accessibilityLiveRegion="polite" style={styles.row}>
        {agent && <Text style={styles.agent}>{texts.agent(agent)}</Text>}
        <Text>{ready ? texts.turn(turn?.yours === true) : texts.status[status]}</Text>
      </View>
      {problem && <Text accessibilityRole="alert">{texts.problem[problem]}</Text>}
      {ended && <Text>{texts.ended}</Text>}
      <Talk />
      <OrderList />
      <Say />
      <HoldToTalk onMicrophone={onMicrophone} />
      <Button label={texts.leave} onPress={onLeave} />
    </>
  );
}

function Talk() {
  const lines = useLines();
  return (
    <ScrollView style={styles.talk}>
      {lines.map((line) => (
        <Text key={line.id} style={styles.line}>
          {line.agent ? texts.agent(line.agent) : texts.you}: {line.text}
        </Text>
      ))}
    </ScrollView>
  );
}

function OrderList() {
  const { order, apply, pending, error } = useOrder();
  if (order === null) return null;
  return (
    <View aria-busy={pending > 0}>
      {order.order_items.map((line) => (
        <View key={line.id} style={styles.row}>
          <View style={styles.grow}>
            <Text>{line.name}</Text>
            <Details line={line} />
          </View>
          <Button
            label={texts.fewer(line.name)}
            sign="−"
            onPress={() =>
              void apply(
                line.quantity > 1
                  ? { op: "change_item", line_id: line.id, quantity: line.quantity - 1 }
                  : { op: "remove_item", line_id: line.id },
              )
            }
          />
          <Text accessibilityLabel={texts.quantity(line.quantity, line.name)}>{line.quantity}</Text>
          <Button
            label={texts.more(line.name)}
            sign="+"
            onPress={() =>
              void apply({ op: "change_item", line_id: line.id, quantity: line.quantity + 1 })
            }
          />
        </View>
      ))}
      <Text style={styles.total}>{order.display.total}</Text>
      {texts.stage[order.stage] && (
        <Text accessibilityLiveRegion="polite">
          {texts.number(order.order_number)} {texts.stage[order.stage]}
        </Text>
      )}
      {order.stage === "failed" && (
        <Text accessibilityRole="alert" style={styles.alert}>
          {order.ended_reason ? `${texts.failed} ${texts.why(order.ended_reason)}` : texts.failed}
        </Text>
      )}
      {error && (
        <Text accessibilityRole="alert" style={styles.alert}>
          {error.detail}
        </Text>
      )}
    </View>
  );
}

/** What makes a line other than the dish alone: size, changes, the dishes of a combo, a wish. */
function Details({ line }: { line: OrderItem }) {
  const parts = line.parts.map(({ name, size, modifications }) =>
    [name, size, ...modifications].filter(Boolean).join(" "),
  );
  const details = [line.size, ...line.modifications, ...parts, line.note].filter(Boolean);
  return details.length > 0 && <Text style={styles.details}>{details.join(", ")}</Text>;
}

function Say() {
  const session = useAgentSession();
  const [words, setWords] = useState("");
  const [failed, setFailed] = useState(false);
  const say = async () => {
    const text = words.trim();
    if (text === "") return;
    setWords("");
    setFailed(false);
    try {
      await session.say(text);
    } catch {
      setFailed(true);
      setWords((since) => since || text); // nothing typed is lost
    }
  };
  return (
    <>
      {failed && <Text accessibilityRole="alert">{texts.notSaid}</Text>}
      <View style={styles.row}>
        <TextInput
          accessibilityLabel={texts.type}
          placeholder={texts.type}
          style={styles.input}
          value={words}
          onChangeText={setWords}
          onSubmitEditing={() => void say()}
        />
        <Button label={texts.say} onPress={() => void say()} />
      </View>
    </>
  );
}

function HoldToTalk({ onMicrophone }: Pick<CallProps, "onMicrophone">) {
  const session = useAgentSession();
  const { hello } = useSnapshot();
  const { offered, talking, start, end, cancel } = usePushToTalk();
  /** Changes when the button is pressed or released: a press that waits for the microphone then begins no turn. */
  const hold = useRef(0);
  const [noMicrophone, setNoMicrophone] = useState(false);
  const microphone = useRef(Promise.resolve());
  // One after the other: turned off while it is still opening, it would stay on.
  const turn = useCallback(
    (on: boolean) => {
      const turned = microphone.current.then(() => onMicrophone(on));
      microphone.current = turned.catch(() => {});
      return turned;
    },
    [onMicrophone],
  );
  // Each agent that takes over is told again.
  useEffect(() => {
    if (offered && hello) void session.setMicrophone("push_to_talk").catch(() => {});
  }, [session, offered, hello]);
  const drop = useCallback(() => {
    hold.current += 1;
    void cancel().catch(() => {});
    void turn(false).catch(() => {});
  }, [cancel, turn]);
  // A call in the background does not listen, nor does one that is no longer shown.
  useEffect(() => {
    const watching = AppState.addEventListener("change", (state) => {
      if (state === "background") drop();
    });
    return () => {
      watching.remove();
      drop();
    };
  }, [drop]);
  if (!offered) return null;
  const press = async () => {
    hold.current += 1;
    const pressed = hold.current;
    setNoMicrophone(false);
    try {
      await turn(true);
    } catch {
      setNoMicrophone(true);
      return;
    }
    if (pressed === hold.current) await start();
  };
  const release = async () => {
    hold.current += 1;
    await end().catch(() => {});
    await turn(false).catch(() => {});
  };
  return (
    <>
      {noMicrophone && (
        <Text accessibilityRole="alert" style={styles.alert}>
          {texts.noMicrophone}
        </Text>
      )}
      <Button
        label={talking ? texts.release : texts.hold}
        onPressIn={() => void press().catch(() => turn(false).catch(() => {}))}
        onPressOut={() => void release()}
      />
    </>
  );
}

interface ButtonProps {
  label: string;
  sign?: string;
  onPress?: () => void;
  onPressIn?: () => void;
  onPressOut?: () => void;
}

function Button({ label, sign, ...on }: ButtonProps) {
  return (
    <Pressable accessibilityRole="button" accessibilityLabel={label} style={styles.button} {...on}>
      <Text style={styles.sign}>{sign ?? label}</Text>
    </Pressable>
  );
}

const styles = StyleSheet.create({
  screen: { flex: 1, gap: 12, padding: 16, paddingTop: 56, backgroundColor: "#fbf7f0" },
  title: { fontSize: 28, fontWeight: "700" },
  row: { flexDirection: "row", alignItems: "center", gap: 8 },
  grow: { flex: 1 },
  agent: { fontWeight: "600" },
  talk: { flex: 1 },
  line: { marginBottom: 6 },
  details: { color: "#6b6256" },
  total: { fontWeight: "700", textAlign: "right" },
  alert: { color: "#9c1c1c" },
  input: { flex: 1, minHeight: 48, borderWidth: 1, borderColor: "#6b6256", padding: 8 },
  button: {
    minHeight: 48,
    minWidth: 48,
    alignItems: "center",
    justifyContent: "center",
    backgroundColor: "#7a2e1d",
    borderRadius: 8,
    paddingHorizontal: 12,
  },
  sign: { color: "#ffffff", fontWeight: "600" },
});
