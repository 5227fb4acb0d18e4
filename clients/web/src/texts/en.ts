import { clock, dateText, money } from "../model/words";

/** All words of the page in English; the other languages have the same shape. */
export const en = {
  language: "English",
  code: "en",

  skip: "Skip to speaking and typing",
  parts: "Parts of the page",
  talk: "Talk",
  menu: "Menu",
  order: "Order",
  orderCount: (count: number, total: string) => `Order: ${count}, ${total}`,
  orderNumber: (number: string) => `Order: ${number}`,
  person: "Ask for a person",
  personShort: "A person",
  personReason: "What is it about?",
  personPhone: "The number to call you at",
  personAsked: "Asked. Leave a number, so that someone from the restaurant can call you.",
  personSend: "Ask for them",
  personSent: "Asked. Someone from the restaurant will get in touch.",
  personOver: "The call has ended. Begin a new one, and ask for a person there.",
  settings: "Sound and language",
  settingsShort: "Settings",
  close: "Close",
  cancel: "Leave it",
  save: "Keep it",
  optional: "(you may leave it out)",

  welcome: {
    title: "Come in. What would you like?",
    lead: "Say it as you would at the table, or type it. We write it down, and you can change the ticket with your own hands.",
    talking: "Start talking",
    typing: "Start by typing",
    fine: "Your browser asks for the microphone after you press, never before. You talk with programs; a person comes when you ask for one. Pay at pickup or at your door.",
    connecting: "One moment",
  },

  /** Where the house is. */
  house: {
    ring: (phone: string) => `Ring us: ${phone}`,
    pickUp: (address: string) => `Pick it up at ${address}.`,
  },

  agents: {
    label: "Who serves you",
    greeter: "Greeter",
    order_taker: "Order taker",
    payment: "Payment",
    feedback: "Feedback",
    withYou: "with you now",
    tookOver: "just took over",
    onHold: "on hold",
  } as Record<string, string>,

  /** The same within a sentence. */
  theAgent: {
    greeter: "the Greeter",
    order_taker: "the Order taker",
    payment: "Payment",
    feedback: "Feedback",
  } as Record<string, string>,

  script: {
    title: (house: string) => (house ? `Your talk with ${house}` : "Your talk"),
    log: "What was said",
    you: "You",
    earlier: (count: number) => (count === 1 ? "Earlier: 1 line" : `Earlier: ${count} lines`),
    handsOver: "hands you to",
    /** To which agent a handoff goes. */
    to: {
      greeter: "the Greeter",
      order_taker: "the Order taker",
      payment: "Payment",
      feedback: "Feedback",
    } as Record<string, string>,
    cutOff: "Cut off here. It was not heard to the end.",
    onTicket: "On your ticket:",
    offTicket: "Off your ticket:",
  },

  dock: {
    label: "Speaking and typing",
    yourTurn: "Your turn",
    speaking: (agent: string) => `${agent} is speaking`,
    thinking: "One moment",
    connecting: "Connecting",
    waitingForAgent: "Calling someone to you",
    held: "Hold on a moment",
    over: "The call has ended",
    failed: "No one can be reached",
    hint: {
      open: "Say it, type it, or tap.",
      yes_no: "Yes or no?",
      choice: "Tap one, or say it.",
      rating: "From one to five stars?",
      amount: "How much?",
      name: "Your name, please.",
      contact: "A number or an address to reach you.",
    } as Record<string, string>,
    hintTyping: "Type it, or use the menu and the ticket.",
    hintSpeaking: "Start talking or typing to cut in.",
    hintThinking: "Your words are with us.",
    hintConnecting: "You can type already; it is sent when we are connected.",
    hintHeld: "We hear you again as soon as the line is back. What you type waits here.",
    hintOver: "Your order stays as the ticket shows it.",
    answers: "Quick answers",
    /** Answers that agents offer, by their words; dishes and sizes stay as on the menu. */
    choices: {
      cash: "Cash",
      card: "Card",
      pickup: "Pickup",
      delivery: "Delivery",
      yes: "Yes",
      no: "No",
    } as Record<string, string>,
    yes: "Yes",
    no: "No",
    stars: (count: number) => (count === 1 ? "1 star" : `${count} stars`),
    noTip: "No tip",
    typeLabel: "Type to the restaurant",
    placeholder: "Type here",
    placeholderVoice: "Or type here",
    placeholderName: "Your name",
    placeholderContact: "Telephone or e-mail",
    send: "Send",
    notSent: "It was not sent.",
    sendAgain: "Send again",
    microphone: "Microphone",
    hold: "Hold to talk",
    talkEnd: "Press when done",
    mode: "How the microphone works",
    modeHold: "Hold",
    modeOpen: "Open",
    mute: "Mute",
    gone: "Your microphone is gone. Plug one in.",
    soundOn: "Turn on the sound",
    newOrder: "New order",
  },

  ticket: {
    title: "Your order",
    readBack: "Read back to you",
    number: (number: string) => `Number ${number}`,
    empty: "Nothing on it yet. Say what you would like, or choose from the menu.",
    toMenu: "See the menu",
    pickup: "Pickup",
    delivery: "Delivery",
    pickupOrDelivery: "Pickup or delivery?",
    whenAndWho: "When, and for whom?",
    asap: "as soon as possible",
    at: (time: string, day = "") => `for ${day && `${day}, `}${time}`,
    readyAbout: (time: string, day = "") => `ready ${day && `on ${day} `}about ${time}`,
    to: (address: string) => `to ${address}`,
    forName: (name: string) => `for ${name}`,
    change: "Change",
    choose: "Choose",
    day: "When?",
    today: "Today",
    tomorrow: "Tomorrow",
    time: "At what time?",
    address: "Street, number, town and postcode",
    name: "Name for the order",
    add: "Add",
    allergies: "Allergies",
    noAllergies: "none told",
    allergyLabel: "What must you not have?",
    holds: (words: string) => `Holds ${words}.`,
    soldOut: (names: string) => `${names}: sold out now. Change this line or remove it.`,
    fewer: (name: string) => `One fewer ${name}`,
    more: (name: string) => `One more ${name}`,
    howMany: (name: string) => `How many ${name}`,
    remove: "Remove",
    isNew: "new",
    notSent: "not sent yet",
    subtotal: "Subtotal",
    tax: "Tax",
    taxWithin: "of which tax",
    tip: "Tip",
    tipPercent: (percent: number) => `Tip, ${percent} %`,
    total: "Total",
    waits: "waits",
    extras: "Add a code or a note for the kitchen",
    coupon: "Code",
    couponUse: "Use the code",
    couponIdle: "nothing off yet",
    couponRemove: (code: string) => `Take off the code ${code}`,
    noteLabel: "Note for the kitchen",
    noteAdd: "Add the note",
    done: "That is all, read it back",
    confirm: "Yes, this is right",
    confirmAndPlace: "Yes, place the order",
    place: "Place the order",
    payFirst: "First choose how you pay:",
    reopen: "Change something",
    fixed: "It cannot be changed here any more.",
    payCash: "Cash",
    payCard: "Card",
    payAt: { pickup: "at pickup", delivery: "at your door" } as Record<string, string>,
    stamp: {
      placed: "Placed",
      accepted: "Accepted",
      preparing: "In the oven",
      ready: "Ready",
      completed: "With you",
      cancelled: "Called off",
      failed: "Not accepted",
    } as Record<string, string>,
    same: "The same as last time?",
    sameAdd: "Start with these",
    seen: "As the restaurant last saw it:",
  },

  changed: {
    pickup: "pickup",
    delivery: "delivery",
    allergy: "allergy ",
    name: "for ",
    tip: "tip ",
    noTip: "no tip",
    cash: "cash",
    card: "card",
    coupon: "code ",
    note: "note: ",
    placed: "placed, number ",
    cancelled: "called off",
    stars: (count: number) => (count === 1 ? "1 star" : `${count} stars`),
    total: (total: string) => `Total ${total}.`,
  },

  card: {
    title: "The menu",
    search: "Search the menu",
    searchHint: "a dish, or what is in it",
    found: (count: number) => (count === 1 ? "1 dish" : `${count} dishes`),
    nothing: "No dish holds these words.",
    hide: (allergens: string) => `Hide what holds ${allergens}`,
    noPromise: "As the menu states it. No dish is promised to be free of anything.",
    sections: "Sections of the menu",
    loading: "The menu is on its way",
    notLoaded: "The menu could not be read.",
    again: "Try again",
    add: "Add",
    choose: "Choose",
    soldOut: "Sold out today",
    holds: (words: string) => `Holds ${words}.`,
    meets: (words: string) => `You told us: ${words}.`,
    age: (years: number) => `From ${years} years on.`,
    served: (times: string) => `Served ${times}.`,
    diet: {
      vegan: "vegan",
      vegetarian: "vegetarian",
      "gluten free": "gluten free",
    } as Record<string, string>,
    /** What allergens are called on the page, by the menu's word in lower case. */
    allergens: {} as Record<string, string>,
    days: {
      monday: "Mon",
      tuesday: "Tue",
      wednesday: "Wed",
      thursday: "Thu",
      friday: "Fri",
      saturday: "Sat",
      sunday: "Sun",
    } as Record<string, string>,
  },

  sheet: {
    back: "Back to the menu",
    backToTicket: "Back",
    size: "Size",
    already: "On it already",
    amount: { no: "No", light: "Light", normal: "Normal", extra: "Extra" } as Record<
      string,
      string
    >,
    /** After the name of a group. */
    upTo: (max: number) => `, up to ${max}`,
    none: "None",
    noHalf: "No",
    half: "Half",
    otherHalf: "Other half",
    all: "All",
    showAll: (count: number) => `Show all ${count}`,
    partChoices: (dish: string) => `Size and options of ${dish}`,
    choose: (count: number) => (count === 1 ? "Choose one" : `Choose ${count}`),
    chosen: (count: number, of: number) => `${count} of ${of} chosen`,
    included: "Included",
    each: (dish: string) => `Choose for each ${dish} by itself`,
    note: "A wish for this dish",
    noteHint: "cut in four",
    addFor: (price: string) => (price ? `Add to order, ${price}` : "Add to order"),
    changeFor: (price: string) => (price ? `Change it, ${price}` : "Change it"),
    missing: (group: string) => `Please choose: ${group}.`,
    missingDishes: (count: number, dishes: string) => `Please choose ${count} more: ${dishes}`,
    /** At a group of which this many are still to be chosen. */
    open: (count: number) => `still to choose: ${count}`,
    asChosen: (words: string) => `As chosen it holds ${words}.`,
  },

  pay: {
    tip: "Tip",
    none: "None",
    other: "Other",
    otherLabel: "Tip in percent",
    at: {
      pickup: "You pay at pickup",
      delivery: "You pay at your door",
      none: "How you pay",
    } as Record<string, string>,
    card: "Card",
    cash: "Cash",
    noCard: "No card number is asked for here. Please say none.",
  },

  placed: {
    number: (number: string) => `Number ${number}`,
    earlier: (number: string) => `Your earlier order, number ${number}`,
    seen: "I have seen it",
    readyAt: (time: string, day = "") => `Ready ${day && `on ${day} `}at ${time}.`,
    stage: {
      placed: "Placed. The kitchen reads it.",
      accepted: "The kitchen has accepted it.",
      preparing: "In the oven.",
      ready: "Ready for you.",
      completed: "With you. Enjoy it.",
      cancelled: "The order is called off.",
      failed: "The restaurant could not take the order.",
    } as Record<string, string>,
    why: (reason: string) => `Reason: ${reason}`,
    track: "How far it is",
    steps: {
      placed: "Placed",
      accepted: "Accepted",
      preparing: "In the oven",
      ready: "Ready",
      completed: "With you",
    } as Record<string, string>,
    done: "done",
    howWasIt: "How was it?",
    stars: [
      "",
      "1 star, bad",
      "2 stars, not good",
      "3 stars, all right",
      "4 stars, good",
      "5 stars, very good",
    ],
    comment: "Anything to add?",
    send: "Send",
    thanks: "Thank you. We have written it down.",
  },

  banner: {
    dropped: "The line dropped. Calling back…",
    safe: "Your order is safe; what you change now is sent when we are back.",
    tryNow: "Try now",
  },

  closed: {
    paused: "We take no orders just now. Choose what you like, and place it a little later.",
    until: (time: string) =>
      `We are closed until ${time}. You can order now; it is ready once we are open.`,
    closed: "We are closed just now.",
  },

  trouble: {
    no_server: {
      title: "The restaurant cannot be reached",
      text: "Either your connection or ours is down. Nothing was ordered that your ticket does not show.",
    },
    refused: {
      title: "You could not be let in",
      text: "The restaurant refused the call. Reload the page, or ring us.",
    },
    too_many: {
      title: "Too many calls at once",
      text: "Please wait a moment, then try again.",
    },
    no_agent: {
      title: "No one is answering",
      text: "We are calling again. What is on your ticket is kept.",
    },
    elsewhere: {
      title: "The call goes on in another window",
      text: "This order is open in another tab or on another device.",
    },
    failed: {
      title: "The call has failed",
      text: "What the ticket shows is what we have. You can call again.",
    },
    microphone: {
      title: "Your microphone is off",
      text: "The browser refused it. You may allow it in the address bar, or go on typing.",
    },
    noMicrophone: {
      title: "No microphone was found",
      text: "Plug one in, or go on typing.",
    },
    noHearing: {
      title: "Please type this time",
      text: "No one here can hear you just now. Your microphone is off again.",
    },
    broken: {
      title: "This page has broken down",
      text: "Your order is with the restaurant as it was. Reload the page to go on.",
    },
    reload: "Reload",
    again: "Try again",
    callAgain: "Call again",
    askAgain: "Ask again",
    typing: "Go on typing",
  },

  /** The board of the kitchen and the counter. */
  staff: {
    title: "The pass",
    password: "Password",
    login: "Log in",
    logout: "Log out",
    sound: "Sound for what comes",
    wrong: "That is not the password.",
    notNow: "That did not work. Please try again in a moment.",
    old: "The connection is lost. What hangs here may be old.",
    came: (numbers: string) => `New order: ${numbers}`,
    wanted: "Guests who want a person",
    wants: (number: string, name: string) => `${number} wants a person${name && `: ${name}`}`,
    wantedFor: (reason: string) => `Reason: ${reason}`,
    rails: {
      placed: "New",
      accepted: "Accepted",
      preparing: "In the oven",
      ready: "Ready",
    } as Record<string, string>,
    next: {
      accepted: "Start",
      preparing: "Ready",
      ready: "Handed over",
    } as Record<string, string>,
    allergy: (allergen: string) => `Allergy: ${allergen}`,
    readyAt: (time: string, day = "") => `ready ${day && `${day}, `}${time}`,
    ready: "Ready at",
    accept: "Accept",
    refuse: "Refuse",
    reason: "Why?",
    house: "The house",
    pause: "Pause new orders",
    soldOut: "Sold out now",
    soldOutNow: "Sold out",
    backOn: "Back on",
    dish: "Find a dish",
    atOnce: "Guests who talk right now hear it at once.",
    answered: "Answered",
    late: (time: string, day = "") => `Late: promised for ${day && `${day}, `}${time}`,
    connecting: "Connecting. The orders are not here yet.",
    unreachable: "The server does not answer. The orders are not here yet; the board keeps trying.",
    expired: "Your login has ended. Please log in again.",
    sending: "Sending…",
  },

  errors: {
    sold_out: (facts: Facts) => `${facts.name ?? "It"} is sold out today.${instead(facts.near)}`,
    not_on_menu: () => "It is not on the menu.",
    ambiguous: (facts: Facts) => `Which one? ${listed(facts.possible)}`,
    choice_missing: (facts: Facts) =>
      `Please choose ${facts.group ?? "one"} first${facts.possible ? `: ${listed(facts.possible)}` : ""}.`,
    choice_not_possible: (facts: Facts) => `“${facts.words ?? facts.name}” is not possible here.`,
    not_served_now: (facts: Facts) => `${facts.name ?? "It"} is not served at that time.`,
    too_soon: (facts: Facts) => `That is too soon.${earliest(facts, "en", " The earliest is ")}`,
    closed: (facts: Facts) => `We are closed then.${earliest(facts, "en", " We open on ")}`,
    past: () => "That time is past.",
    too_far_ahead: () => "That is too far ahead.",
    over_limit: () => "That is more than we can take here. A person can help.",
    coupon_not_valid: (facts: Facts) =>
      facts.why === "expired" ? "This code has expired." : "This code does not work.",
    not_combinable: (facts: Facts) => `This code does not go together with ${listed(facts.there)}.`,
    below_minimum: (facts: Facts) =>
      typeof facts.minimum === "number" && typeof facts.short === "number"
        ? `We deliver from ${amountOf(facts, "minimum")} on: ${amountOf(facts, "short")} is missing. Add something, or pick it up.`
        : "It is below the smallest order for delivery.",
    outside_area: () => "We do not deliver to this address.",
    not_offered: () => "We do not offer that.",
    paused: () => "We take no orders just now. Please try again a little later.",
    not_an_address: () => "This is not a complete e-mail address.",
    version_conflict: () => "This changed meanwhile. Look at the ticket, then decide again.",
    wrong_stage: () => "That is not possible any more at this point.",
    missing: (facts: Facts) => `Still needed: ${listed(facts.needs)}.`,
    not_found: () => "It is not on the ticket any more.",
    call_over: () => "The call has ended.",
    rate_limited: () => "That was too fast. Please wait a moment.",
    unavailable: () => "It could not be written down. Please try again.",
    outcome_unknown: () => "We cannot tell whether it was written down. Look at the ticket.",
    unreachable: () => "No one answered. Please try again.",
    other: () => "That did not work.",
  } as Record<string, (facts: Facts) => string>,

  needs: {
    items: "something to eat or drink",
    fulfilment: "pickup or delivery",
    name: "your name",
    phone: "your telephone number",
    address: "your address",
    payment: "how you pay",
    postcode: "your postcode",
  } as Record<string, string>,

  recording: {
    label: "Recording",
    recorded: "This call is recorded.",
    refuse: "Do not record me",
    refused: "This call is not recorded. What was recorded is deleted.",
    failed: "That did not get through. Try again, or say: do not record me.",
  },

  sound: {
    title: "Sound and language",
    language: "Language of the page",
    languageNote: "The agents speak English.",
    microphone: "Microphone",
    speaker: "Loudspeaker",
    standard: "Standard",
    captions: "What is said is always written down as well.",
  },
};

/** The facts of an error, as the server sends them. */
export type Facts = Record<string, unknown>;

/** The shape every language has. */
export type Texts = typeof en;

function listed(value: unknown): string {
  return Array.isArray(value) ? value.join(", ") : String(value ?? "");
}

/** An amount among the facts, as text. */
export function amountOf(facts: Facts, name: string): string {
  return money(Number(facts[name]), String(facts.currency ?? "USD"));
}

/** The first possible time of a refused one, after some words; nothing where there is none. */
export function earliest(facts: Facts, language: string, words: string): string {
  const [first] = Array.isArray(facts.possible) ? facts.possible : [];
  if (typeof first !== "string") return "";
  return `${words}${dateText(first, language)}, ${clock(first, language)}.`;
}

function instead(near: unknown): string {
  return Array.isArray(near) && near.length > 0 ? ` Instead: ${near.join(", ")}.` : "";
}
