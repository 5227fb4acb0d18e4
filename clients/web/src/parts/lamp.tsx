/** The lamp over the dock: lit when the turn is the guest's. */
export function Lamp() {
  return (
    <svg className="lamp" viewBox="0 0 68 76" aria-hidden="true">
      <defs>
        <linearGradient id="lamplight" x2="0" y2="1">
          <stop stopColor="#fffbe6" />
          <stop offset="1" stopColor="#fff3bf" stopOpacity="0" />
        </linearGradient>
      </defs>
      <path className="light" d="M10 42-40 180h148L58 42z" fill="url(#lamplight)" />
      <path d="M34-12v28" stroke="currentColor" strokeWidth="3" />
      <path d="M8 42C10 25 20 16 34 16s24 9 26 26z" fill="#b02a18" />
      <path
        d="M15 37c2-9 8-15 15-17"
        stroke="#ffb6a4"
        strokeWidth="3"
        fill="none"
        strokeLinecap="round"
      />
      <path className="light" d="M24 42a10 9 0 0 0 20 0z" fill="#fffdf6" />
      <path d="M6 42h56" stroke="currentColor" strokeWidth="3" strokeLinecap="round" />
    </svg>
  );
}
