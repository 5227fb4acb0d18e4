/** Line drawings of 24 units; they never carry a meaning alone. */

const PATHS = {
  bell: "M4 17h16M6 17a6 6 0 0 1 12 0M12 11V8.500M10 8h4M3 20h18",
  pencil: "M4 20l1-5L16 4l4 4L9 19zM14 6l4 4",
  coins:
    "M9 3.500a5.500 5.500 0 1 0 0 11a5.500 5.500 0 1 0 0-11M15.500 9.700A5.500 5.500 0 1 1 9.300 16M9 7v4",
  star: "M12 3l2.700 5.800 6.300.8-4.600 4.400 1.200 6.300L12 17.200l-5.600 3.100 1.200-6.300L3 9.600l6.300-.8z",
  person: "M12 4a3.500 3.500 0 1 1 0 7a3.500 3.500 0 1 1 0-7M5 20c0-4 3-6 7-6s7 2 7 6",
  hand: "M7 12.500V6a1.500 1.500 0 0 1 3 0v5M10 10.500V4.500a1.500 1.500 0 0 1 3 0v6M13 10.500V5.500a1.500 1.500 0 0 1 3 0V11M16 9.500a1.500 1.500 0 0 1 3 0V15a6 6 0 0 1-6 6c-3 0-4.500-1-6-3.500L4 13.500a1.600 1.600 0 0 1 2.700-1.700l1.300 1.700",
  sliders:
    "M4 7h9M17 7h3M4 17h3M11 17h9M13 7a2 2 0 1 0 4 0a2 2 0 1 0-4 0M7 17a2 2 0 1 0 4 0a2 2 0 1 0-4 0",
  microphone:
    "M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3M5 11a7 7 0 0 0 14 0M12 18v3M8 21h8",
  muted:
    "M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3M5 11a7 7 0 0 0 14 0M12 18v3M8 21h8M3 3l18 18",
  arrow: "M4 12h15M13 6l6 6-6 6",
  warning: "M12 4L2.500 20h19zM12 10v4.500M12 17v.3",
  slip: "M6 3h12v18l-2-1.500-2 1.500-2-1.500-2 1.500-2-1.500L6 21zM9 8h6M9 12h6",
  check: "M5 13l4.500 4.500L19 7",
  oven: "M3 4h18v16H3zM3 9h18M7 6.500h.1M11 6.500h.1M8 17c0-3 2-3.500 4-3.500s4 .5 4 3.500z",
  box: "M4 8l8-4 8 4v9l-8 4-8-4zM4 8l8 4 8-4M12 12v9",
  door: "M6 21V4l9-1v18M15 5h4v16M3 21h18M12 12v.4",
  speaker: "M4 10v4h4l5 4V6L8 10zM16 9.500a4 4 0 0 1 0 5M18.500 7a7.500 7.500 0 0 1 0 10",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      viewBox="0 0 24 24"
      width="24"
      height="24"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
