// Made from the application's contract by typed-handoffs-types; do not edit.

/** The application's name for its state. */
export const NOUN = "order";

/** What a state has: its fields, the possible values of those that have a few, and those that may be empty. */
export const KNOWN = {
  "fields": [
    "order_id",
    "order_number",
    "restaurant_id",
    "version",
    "stage",
    "active_agent",
    "channel",
    "currency",
    "customer_name",
    "phone",
    "email",
    "order_items",
    "item_count",
    "order_summary",
    "subtotal",
    "discounts",
    "fees",
    "tax",
    "tip",
    "total",
    "tip_percentage",
    "coupons",
    "payment_method",
    "fulfilment",
    "notes",
    "allergies",
    "feedback_rating",
    "feedback_comment",
    "person_wanted",
    "ended_reason",
    "stage_times",
    "display"
  ],
  "values": {
    "stage": [
      "open",
      "review",
      "confirmed",
      "placed",
      "accepted",
      "preparing",
      "ready",
      "completed",
      "cancelled",
      "failed"
    ],
    "channel": [
      "terminal",
      "phone",
      "web_voice",
      "web_text"
    ],
    "payment_method": [
      "cash",
      "card"
    ]
  },
  "nested": {
    "order_items": {
      "fields": [
        "id",
        "name",
        "size",
        "quantity",
        "modifications",
        "parts",
        "unit_price",
        "line_total",
        "note",
        "allergens_met"
      ],
      "values": {},
      "nested": {
        "parts": {
          "fields": [
            "name",
            "size",
            "modifications"
          ],
          "values": {}
        }
      }
    },
    "discounts": {
      "fields": [
        "code",
        "name",
        "amount"
      ],
      "values": {}
    },
    "fees": {
      "fields": [
        "code",
        "name",
        "amount"
      ],
      "values": {}
    },
    "fulfilment": {
      "fields": [
        "kind",
        "when",
        "address",
        "ready_at"
      ],
      "values": {
        "kind": [
          "pickup",
          "delivery"
        ]
      }
    },
    "notes": {
      "fields": [
        "id",
        "title",
        "content",
        "created_at",
        "updated_at"
      ],
      "values": {}
    },
    "display": {
      "fields": [
        "subtotal",
        "tax",
        "tip",
        "total",
        "order_items",
        "discounts",
        "fees"
      ],
      "values": {}
    }
  },
  "empty": {
    "active_agent": null,
    "customer_name": null,
    "phone": null,
    "email": null,
    "order_items": [],
    "discounts": [],
    "fees": [],
    "tip_percentage": null,
    "coupons": [],
    "payment_method": null,
    "fulfilment": null,
    "notes": [],
    "allergies": [],
    "feedback_rating": null,
    "feedback_comment": null,
    "person_wanted": false,
    "ended_reason": null,
    "stage_times": {}
  }
} as const;

export type State = Contract["State"];

/**
 * The stage of an order; ``stages`` has the allowed transitions.
 */
export type Stage =
  | "open"
  | "review"
  | "confirmed"
  | "placed"
  | "accepted"
  | "preparing"
  | "ready"
  | "completed"
  | "cancelled"
  | "failed";
export type Command =
  | SetCustomer
  | AddItem
  | ChangeItem
  | RemoveItem
  | AddNote
  | ChangeNote
  | RemoveNote
  | AddAllergy
  | RemoveAllergy
  | SetFulfilment
  | ApplyCoupon
  | RemoveCoupon
  | SetTip
  | ChoosePayment
  | ReadBack
  | ConfirmOrder
  | PlaceOrder
  | ReopenOrder
  | CancelOrder
  | GiveFeedback
  | CallPerson
  | AcceptOrder
  | StartPreparing
  | MarkReady
  | CompleteOrder
  | RefuseOrder
  | MarkAnswered;
export type JsonValue = unknown;

export interface Contract {
  State: OrderView;
  Command: Command;
  Requests: {
    hello: HelloRequest;
    say: SayRequest;
    get_transcript: GetTranscriptRequest;
    refuse_recording: RefuseRecordingRequest;
    start_turn: StartTurnRequest;
    end_turn: EndTurnRequest;
    cancel_turn: CancelTurnRequest;
    set_microphone: SetMicrophoneRequest;
    get_order_state: GetOrderStateRequest;
    get_menu: GetMenuRequest;
    "order.apply": OrderApplyRequest;
    "order.subscribe": OrderSubscribeRequest;
    "order.unsubscribe": OrderUnsubscribeRequest;
    "agent.state": AgentStateRequest;
  };
  Replies: {
    hello: HelloReply;
    say: SayReply;
    get_transcript: Transcript;
    refuse_recording: Done;
    start_turn: TurnReply;
    end_turn: TurnReply;
    cancel_turn: TurnReply;
    set_microphone: MicrophoneReply;
    get_order_state: WholeOrder | Unchanged | OrderPatch;
    get_menu: MenuSections | MenuSection | MenuUnchanged;
    "order.apply": WholeOrder;
    "order.subscribe": WholeOrder;
    "order.unsubscribe": Done;
    "agent.state": Created | ReadOne | Written | Listed | Failed;
  };
}
/**
 * The order as clients see it.
 */
export interface OrderView {
  order_id: string;
  /**
   * Short enough to say aloud.
   */
  order_number: string;
  restaurant_id: string;
  /**
   * 0 at the start; each change adds 1.
   */
  version: number;
  stage: Stage;
  /**
   * The agent that is active.
   */
  active_agent: string | null;
  channel: "terminal" | "phone" | "web_voice" | "web_text";
  currency: string;
  customer_name: string | null;
  /**
   * E.164; empty: the guest declined to give one.
   */
  phone: string | null;
  email: string | null;
  order_items: LineView[];
  item_count: number;
  order_summary: string;
  /**
   * Money in the currency's smallest unit.
   */
  subtotal: number;
  discounts: ChargeView[];
  fees: ChargeView[];
  /**
   * Money in the currency's smallest unit.
   */
  tax: number;
  /**
   * Money in the currency's smallest unit.
   */
  tip: number;
  /**
   * Money in the currency's smallest unit.
   */
  total: number;
  tip_percentage: number | null;
  /**
   * Their codes.
   */
  coupons: string[];
  payment_method: ("cash" | "card") | null;
  fulfilment: FulfilmentView | null;
  notes: NoteView[];
  allergies: string[];
  feedback_rating: number | null;
  feedback_comment: string | null;
  person_wanted: boolean;
  /**
   * Why the restaurant refused it, in the staff's words.
   */
  ended_reason: string | null;
  /**
   * When each stage was last reached, by stage.
   */
  stage_times: {
    /**
     * ISO 8601 with its offset.
     */
    [k: string]: string;
  };
  display: Display;
}
/**
 * One line of the order.
 */
export interface LineView {
  /**
   * Short and never reused: L1, L2, ...
   */
  id: string;
  /**
   * The name of the dish or combo on the menu.
   */
  name: string;
  size: string | null;
  quantity: number;
  /**
   * In the menu's words.
   */
  modifications: string[];
  /**
   * The parts of a combo; else empty.
   */
  parts: PartView[];
  /**
   * With modifications, before discounts.
   */
  unit_price: number;
  /**
   * Money in the currency's smallest unit.
   */
  line_total: number;
  note: string | null;
  /**
   * The families of the guest's allergies that it holds.
   */
  allergens_met: string[];
}
/**
 * One dish within a combo.
 */
export interface PartView {
  name: string;
  size: string | null;
  modifications: string[];
}
/**
 * A discount or a fee; the amount is above 0.
 */
export interface ChargeView {
  code: string;
  name: string;
  /**
   * Money in the currency's smallest unit.
   */
  amount: number;
}
/**
 * How and when the guest receives the food.
 */
export interface FulfilmentView {
  kind: "pickup" | "delivery";
  /**
   * null: as soon as possible.
   */
  when: string | null;
  address: string | null;
  /**
   * The estimated time at which it is ready.
   */
  ready_at: string;
}
/**
 * A note to the restaurant that belongs to no line.
 */
export interface NoteView {
  id: string;
  title: string;
  content: string;
  /**
   * ISO 8601 with its offset.
   */
  created_at: string;
  /**
   * ISO 8601 with its offset.
   */
  updated_at: string;
}
/**
 * Every amount as text in the restaurant's currency: ``$28.47``.
 */
export interface Display {
  subtotal: string;
  tax: string;
  tip: string;
  total: string;
  /**
   * By the line's id.
   */
  order_items: {
    [k: string]: LineAmounts;
  };
  /**
   * By code.
   */
  discounts: {
    [k: string]: string;
  };
  /**
   * By code.
   */
  fees: {
    [k: string]: string;
  };
}
/**
 * A line's amounts as text.
 */
export interface LineAmounts {
  unit_price: string;
  line_total: string;
}
/**
 * Keep the guest's name, telephone number or e-mail address. Give only what the guest has said.
 *
 * A guest who would rather not say gives an empty text.
 */
export interface SetCustomer {
  op: "set_customer";
  /**
   * The name for the order.
   */
  name?: string | null;
  /**
   * The telephone number, in digits.
   */
  phone?: string | null;
  /**
   * The e-mail address, such as ada@example.com.
   */
  email?: string | null;
}
/**
 * Put a dish, a drink or a combo on the order.
 *
 * Call it once for each thing that is different: "two Margheritas, one without basil" is two calls of
 * one each. Prices come from the menu. If something has to be chosen first you are told what.
 */
export interface AddItem {
  op: "add_item";
  /**
   * The dish or combo, as the guest calls it.
   */
  name: string;
  /**
   * The size the guest named, such as 'large'. Leave out when not named.
   */
  size?: string | null;
  /**
   * How many of exactly this; 1 if not said.
   */
  quantity?: number;
  /**
   * What is different from the card, each in the guest's own words: 'no basil', 'extra mozzarella', 'half mushrooms', 'pan crust', '2 espresso shots'. Never a size.
   *
   * @maxItems 50
   */
  modifications?: string[];
  parts?: Part[] | null;
  note?: string | null;
}
/**
 * One part of a combo.
 */
export interface Part {
  /**
   * The dish chosen for this part.
   */
  name: string;
  /**
   * Its size, if the guest named one.
   */
  size?: string | null;
  /**
   * What is different about this part, as above.
   *
   * @maxItems 50
   */
  modifications?: string[];
  /**
   * How many parts are this dish; 1 if left out.
   */
  quantity?: number;
}
/**
 * Change a line that is on the order. What you give replaces what was there; the rest stays.
 *
 * To make one of several different, lower this line's quantity and add the different one as a line of
 * its own. If the line becomes the same as another one, the two become one under this line's id.
 */
export interface ChangeItem {
  op: "change_item";
  /**
   * The line's id as the order shows it, such as L1.
   */
  line_id: string;
  /**
   * Another dish instead; what fits it stays chosen.
   */
  name?: string | null;
  /**
   * The size the guest named, such as 'large'. Leave out when not named.
   */
  size?: string | null;
  /**
   * How many there are to be now, not how many more.
   */
  quantity?: number | null;
  /**
   * All modifications the line is to have now, old ones to be kept included; an empty list takes all away.
   */
  modifications?: string[] | null;
  /**
   * Only for a combo: all its parts as they are to be now.
   */
  parts?: Part[] | null;
  /**
   * The note as it is to be now; an empty text takes it away.
   */
  note?: string | null;
}
/**
 * Take a line off the order, or only so many pieces of it.
 */
export interface RemoveItem {
  op: "remove_item";
  /**
   * The line's id as the order shows it, such as L1.
   */
  line_id: string;
  /**
   * How many pieces to take off; all of them if left out.
   */
  quantity?: number | null;
}
/**
 * Write a note to the restaurant that belongs to no dish, such as 'the bell is broken, please call'.
 */
export interface AddNote {
  op: "add_note";
  /**
   * What it is about, in a few words.
   */
  title: string;
  /**
   * The note itself.
   */
  content: string;
}
/**
 * Change a note. What you give replaces what was there.
 */
export interface ChangeNote {
  op: "change_note";
  /**
   * The note's id.
   */
  note_id: string;
  /**
   * The new title.
   */
  title?: string | null;
  /**
   * The new text.
   */
  content?: string | null;
}
/**
 * Take a note off the order.
 */
export interface RemoveNote {
  op: "remove_note";
  /**
   * The note's id.
   */
  note_id: string;
}
/**
 * Write an allergy on the order, for the kitchen. Do it whenever the guest mentions one.
 *
 * It promises nothing: never say that a dish is safe.
 */
export interface AddAllergy {
  op: "add_allergy";
  /**
   * What they must not have, in their own word: 'shrimp'.
   */
  name: string;
}
/**
 * Take an allergy off the order.
 */
export interface RemoveAllergy {
  op: "remove_allergy";
  /**
   * The allergy, as it stands on the order.
   */
  name: string;
}
/**
 * Keep whether the guest picks the food up or has it brought, for when, and to where.
 *
 * What is left out stays as it was.
 */
export interface SetFulfilment {
  op: "set_fulfilment";
  /**
   * How the guest gets the food.
   */
  kind: "pickup" | "delivery";
  /**
   * The time asked for, ISO 8601 in the restaurant's local time such as 2026-11-20T19:30; 'asap' for as soon as possible.
   */
  when?: string | null;
  /**
   * For delivery: street, number, town and postcode in one text.
   */
  address?: string | null;
}
/**
 * Put a coupon on the order. What it takes off is computed from the menu's rules.
 */
export interface ApplyCoupon {
  op: "apply_coupon";
  /**
   * The coupon's code as the guest gives it.
   */
  code: string;
}
/**
 * Take a coupon off the order.
 */
export interface RemoveCoupon {
  op: "remove_coupon";
  /**
   * The coupon's code as the guest gives it.
   */
  code: string;
}
/**
 * Keep the tip the guest wants to give: a percentage or an amount, one of the two; 0 is a no.
 */
export interface SetTip {
  op: "set_tip";
  /**
   * Percent, such as 15; 0 for no tip.
   */
  percentage?: number | null;
  /**
   * An amount in the currency's smallest unit: 300 means $3.00.
   */
  amount?: number | null;
}
/**
 * Keep how the guest will pay at handover. Never ask for a card number and never take one.
 */
export interface ChoosePayment {
  op: "choose_payment";
  /**
   * How the guest pays when they get the food.
   */
  method: "cash" | "card";
}
/**
 * Read the whole order back: call this when the guest is done, and say what it answers.
 *
 * Say every line, the total, and when it will be ready; then ask whether all of it is right.
 */
export interface ReadBack {
  op: "read_back";
}
/**
 * Keep the guest's yes to the order as it was just read back. Never call it without that yes.
 */
export interface ConfirmOrder {
  op: "confirm_order";
}
/**
 * Send the confirmed order to the kitchen, once it is known how the guest pays.
 *
 * Say the number of the order and when it will be ready.
 */
export interface PlaceOrder {
  op: "place_order";
}
/**
 * Take the order up again after it was read back or confirmed, because the guest wants a change.
 */
export interface ReopenOrder {
  op: "reopen_order";
}
/**
 * Call the whole order off, because the guest wants nothing any more. Ask before you do.
 */
export interface CancelOrder {
  op: "cancel_order";
}
/**
 * Keep what the guest says about the evening, once the order is placed.
 *
 * The rating is the guest's own number; never work one out from their words.
 */
export interface GiveFeedback {
  op: "give_feedback";
  /**
   * Stars from 1 to 5, as the guest gave them.
   */
  rating?: number | null;
  /**
   * The guest's own words, added to earlier ones.
   */
  comment?: string | null;
}
/**
 * Ask for a member of staff: when the guest wants a person, or when you cannot help them.
 */
export interface CallPerson {
  op: "call_person";
  /**
   * Why, in a few words for the staff.
   */
  reason: string;
}
/**
 * The kitchen takes the order, and may say when it will be ready.
 */
export interface AcceptOrder {
  op: "accept_order";
  /**
   * When it will be ready, ISO 8601 in the restaurant's local time, if it differs from what was promised.
   */
  ready_at?: string | null;
}
/**
 * The kitchen begins.
 */
export interface StartPreparing {
  op: "start_preparing";
}
/**
 * The food is ready to be fetched or brought.
 */
export interface MarkReady {
  op: "mark_ready";
}
/**
 * The guest has the food.
 */
export interface CompleteOrder {
  op: "complete_order";
}
/**
 * The restaurant cannot make the order after all.
 */
export interface RefuseOrder {
  op: "refuse_order";
  /**
   * Why, as the guest may be told.
   */
  reason: string;
}
/**
 * Staff have answered a guest who wanted a person.
 */
export interface MarkAnswered {
  op: "mark_answered";
}
/**
 * Join the call. Answered once you are the bound guest and can be heard.
 */
export interface HelloRequest {}
/**
 * Say something to the agent, as if spoken. Interrupts a reply in progress.
 */
export interface SayRequest {
  /**
   * The guest's words.
   */
  text: string;
  key?: string | null;
}
/**
 * Read the transcript of the order: its newest lines, or those before a number.
 */
export interface GetTranscriptRequest {
  /**
   * The number of the first line that you have.
   */
  before?: number | null;
}
/**
 * Stop recording this call and later ones about this order, and delete the recordings.
 */
export interface RefuseRecordingRequest {}
/**
 * Begin a turn: interrupts the agent, and switches the microphone to push-to-talk.
 */
export interface StartTurnRequest {}
/**
 * End the turn. The reply to this request does not wait for the transcript.
 */
export interface EndTurnRequest {}
/**
 * End the turn and discard its words.
 */
export interface CancelTurnRequest {}
/**
 * Set the microphone mode: `push_to_talk` uses only the audio between `start_turn` and `end_turn`.
 */
export interface SetMicrophoneRequest {
  mode: "open" | "push_to_talk";
}
/**
 * Read the order: as a whole, or the changes since a version.
 */
export interface GetOrderStateRequest {
  /**
   * The version you have.
   */
  since?: number | null;
}
/**
 * Read the menu: the names of its sections, or one of them, page by page.
 */
export interface GetMenuRequest {
  /**
   * The name of a section.
   */
  section?: string | null;
  /**
   * From the previous page.
   */
  cursor?: string | null;
  /**
   * The menu version you have.
   */
  version?: string | null;
}
/**
 * Change the order by a command, as the agents' tools do.
 */
export interface OrderApplyRequest {
  command: Command;
  version?: number | null;
  key?: string | null;
}
/**
 * Subscribe to changes of the order, sent as `order_state_changed`.
 */
export interface OrderSubscribeRequest {}
/**
 * Unsubscribe from changes.
 */
export interface OrderUnsubscribeRequest {}
/**
 * Create, read, update, delete or list the parts of the order.
 */
export interface AgentStateRequest {
  operation: "create" | "read" | "update" | "delete" | "list";
  /**
   * Required except for a list.
   */
  object_type?:
    ("item" | "note" | "order" | "customer" | "fulfilment" | "tip" | "payment" | "feedback") | null;
  /**
   * Required for an existing item or note; the id of any other part is its type.
   */
  object_id?: string | null;
  /**
   * The fields of the command to carry out.
   */
  data?: {
    [k: string]: unknown;
  } | null;
  version?: number | null;
  key?: string | null;
  /**
   * For a list: from the previous page.
   */
  cursor?: string | null;
}
/**
 * The present state of the call.
 */
export interface HelloReply {
  protocol: 1;
  /**
   * The agent's name.
   */
  agent: string;
  features: string[];
  order_id: string;
  /**
   * The version of the order in this reply.
   */
  version: number;
  /**
   * The agent that is active.
   */
  active_agent: string;
  /**
   * The number of user turns so far.
   */
  turn: number;
  /**
   * Continues this order in another room; for the guest only.
   */
  resume_code: string | null;
  /**
   * The commands that repeat the guest's last order, to be sent in this order; empty if there was none.
   */
  last_order: Command[];
}
/**
 * The words were accepted.
 */
export interface SayReply {
  /**
   * The number of this turn; `your_turn_to_speak` has it.
   */
  turn: number;
}
/**
 * A part of the transcript.
 */
export interface Transcript {
  /**
   * Oldest first.
   */
  lines: TranscriptLine[];
  /**
   * Whether there are lines before the first of these.
   */
  earlier: boolean;
}
/**
 * The words of the guest or an agent; redacted, and shortened if they are long.
 */
export interface TranscriptLine {
  /**
   * The line's number; later lines have higher ones.
   */
  number: number;
  /**
   * The number of the guest's turn; 0 before the first.
   */
  turn: number;
  /**
   * `user` is the guest, in every application.
   */
  speaker: "user" | "agent";
  /**
   * The agent; null for the guest.
   */
  agent: string | null;
  text: string;
  /**
   * Whether the guest interrupted it.
   */
  interrupted: boolean;
  /**
   * The attribute `utterance` of the live transcriptions of these words; null if it is not known, as of typed words and those that an earlier release has stored.
   */
  utterance: string | null;
}
/**
 * The request was carried out.
 */
export interface Done {
  ok: true;
}
/**
 * The request was carried out.
 */
export interface TurnReply {
  ok: true;
  /**
   * The turn's number; after `cancel_turn` that of the last turn before.
   */
  turn: number;
}
/**
 * The request was carried out.
 */
export interface MicrophoneReply {
  ok: true;
  mode: "open" | "push_to_talk";
}
/**
 * The whole order.
 */
export interface WholeOrder {
  /**
   * The version of the order in this reply.
   */
  version: number;
  order: OrderView;
}
/**
 * The order has not changed since the version sent.
 */
export interface Unchanged {
  /**
   * The version of the order in this reply.
   */
  version: number;
  unchanged: true;
}
/**
 * The changes since ``base_version``.
 */
export interface OrderPatch {
  /**
   * The version of the order in this reply.
   */
  version: number;
  base_version: number;
  patch: (Add | Remove | Replace)[];
}
/**
 * Add a value; in a list, insert it before this index.
 */
export interface Add {
  op: "add";
  /**
   * JSON Pointer from the view's root.
   */
  path: string;
  value: JsonValue;
}
/**
 * Remove the value.
 */
export interface Remove {
  op: "remove";
  path: string;
}
/**
 * Replace the value; an empty path is the whole view.
 */
export interface Replace {
  op: "replace";
  path: string;
  value: JsonValue;
}
/**
 * The names of the menu's sections.
 */
export interface MenuSections {
  menu_version: string;
  sections: string[];
  house: HouseView;
  /**
   * For the next page; null: there are no more.
   */
  cursor: string | null;
}
/**
 * The restaurant as a page shows it above its menu.
 */
export interface HouseView {
  name: string;
  /**
   * The telephone number that guests call.
   */
  phone: string | null;
  /**
   * Where pickups are handed over.
   */
  address: string | null;
  /**
   * Its ISO 4217 code.
   */
  currency: string;
  open_now: boolean;
  /**
   * Whether staff take no orders just now.
   */
  paused: boolean;
  /**
   * The next opening of a closed house: ISO 8601 with offset; else null.
   */
  opens_at: string | null;
  /**
   * The hours of each weekday in local time, as `17:30-01:00`.
   */
  hours: {
    [k: string]: string[];
  };
  lead_minutes: LeadMinutes;
  /**
   * What `choose_payment` accepts: how guests pay at the handover.
   */
  payment_methods: ("cash" | "card")[];
  /**
   * The percentages that are offered.
   */
  tips: number[];
  /**
   * What a tip is a percentage of: the subtotal before discounts, or the total without the tip.
   */
  tip_base: "subtotal" | "total";
}
/**
 * The minutes from an order to its handover; null: not offered.
 */
export interface LeadMinutes {
  pickup: number | null;
  delivery: number | null;
}
/**
 * One page of one section.
 */
export interface MenuSection {
  menu_version: string;
  section: SectionView;
  /**
   * For the next page; null: there are no more.
   */
  cursor: string | null;
}
/**
 * A section of the menu, or one page of it.
 */
export interface SectionView {
  name: string;
  served: ServedView[];
  dishes: DishView[];
}
/**
 * When something is served, in local time.
 */
export interface ServedView {
  days: string[];
  hours: string[];
}
/**
 * A dish or a combo: what a page needs to show and order it.
 */
export interface DishView {
  name: string;
  description: string | null;
  /**
   * The price by size. A dish with a single price has the size `regular`.
   */
  sizes: {
    /**
     * Money in the currency's smallest unit.
     */
    [k: string]: number;
  };
  /**
   * The size taken when none is named; null: a size is required.
   */
  default_size: string | null;
  /**
   * Can be left out ('no basil'), light or extra.
   */
  with: string[];
  /**
   * The price of an extra portion of each, by size, where it costs anything.
   */
  extra: {
    [k: string]: {
      /**
       * Money in the currency's smallest unit.
       */
      [k: string]: number;
    };
  };
  options: OptionView[];
  /**
   * The parts of a combo; else empty.
   */
  parts: PartChoice[];
  /**
   * As stated on the menu; for a combo, of all its dishes.
   */
  allergens: string[];
  diets: string[];
  minimum_age: number | null;
  /**
   * Empty: during all opening hours.
   */
  served: ServedView[];
  /**
   * Whether it is available today.
   */
  available: boolean;
  /**
   * Continues the dish before it with more options.
   */
  continued: boolean;
}
/**
 * A group of choices.
 */
export interface OptionView {
  name: string;
  /**
   * The minimum number of choices.
   */
  min: number;
  /**
   * The maximum number of choices.
   */
  max: number;
  /**
   * The choice taken when none is named.
   */
  default: string | null;
  /**
   * A choice can be taken several times: '3 espresso shots'.
   */
  counted: boolean;
  /**
   * A choice can be for one half only: 'half ham'.
   */
  halves: boolean;
  /**
   * Words for amounts, with the factor each multiplies the price by.
   */
  amounts: {
    [k: string]: number;
  };
  choices: ChoiceView[];
}
/**
 * One choice in a group of options.
 */
export interface ChoiceView {
  /**
   * What to send as a modification.
   */
  name: string;
  /**
   * What it adds to the price of one, by the dish's size.
   */
  prices: {
    /**
     * Money in the currency's smallest unit.
     */
    [k: string]: number;
  };
  allergens: string[];
  diets: string[];
  available: boolean;
}
/**
 * One part of a combo: how many of which dishes.
 */
export interface PartChoice {
  choose: number;
  dishes: string[];
}
/**
 * The menu has not changed since the version sent.
 */
export interface MenuUnchanged {
  menu_version: string;
  unchanged: true;
}
/**
 * The object was created.
 */
export interface Created {
  status: "success";
  /**
   * A summary for people.
   */
  message: string;
  /**
   * The version of the order in this reply.
   */
  version: number;
  operation: "create";
  object_id: string;
}
/**
 * The requested object.
 */
export interface ReadOne {
  status: "success";
  /**
   * A summary for people.
   */
  message: string;
  /**
   * The version of the order in this reply.
   */
  version: number;
  operation: "read";
  object: ObjectView;
}
/**
 * One part of the order; its ``data`` can be sent back.
 */
export interface ObjectView {
  id: string;
  type: "item" | "note" | "order" | "customer" | "fulfilment" | "tip" | "payment" | "feedback";
  /**
   * null: not set yet.
   */
  created_at: string | null;
  updated_at: string | null;
  /**
   * Its fields, named like the command's.
   */
  data: {
    [k: string]: JsonValue;
  };
}
/**
 * The object was updated or deleted.
 */
export interface Written {
  status: "success";
  /**
   * A summary for people.
   */
  message: string;
  /**
   * The version of the order in this reply.
   */
  version: number;
  operation: "update" | "delete";
}
/**
 * The requested objects.
 */
export interface Listed {
  status: "success";
  /**
   * A summary for people.
   */
  message: string;
  /**
   * The version of the order in this reply.
   */
  version: number;
  operation: "list";
  /**
   * By their ids.
   */
  objects: {
    [k: string]: ObjectView;
  };
  /**
   * The number of objects in this reply.
   */
  count: number;
  /**
   * For the next page; null: there are no more.
   */
  cursor: string | null;
}
/**
 * The operation failed.
 */
export interface Failed {
  status: "error";
  operation: "create" | "read" | "update" | "delete" | "list";
  message: string;
  /**
   * The version of the order in this reply.
   */
  version: number;
  error: ErrorObject;
}
/**
 * Why a request failed: for programs (``code``, ``type``, ``reason``, ``facts``) and for people (``detail``).
 */
export interface ErrorObject {
  code: number;
  type: string;
  reason: string;
  facts: {
    [k: string]: JsonValue;
  };
  detail: string;
  retryable: boolean;
  retry_after_ms?: number | null;
  version?: number | null;
}
