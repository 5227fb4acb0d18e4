/** Catches what no part of the page expected, so that a guest is left with words and a way on. */

import { Component, type ReactNode } from "react";
import { useTexts } from "../texts";

export class Boundary extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError() {
    return { broken: true };
  }

  override render() {
    return this.state.broken ? <Broken /> : this.props.children;
  }
}

function Broken() {
  const words = useTexts().trouble;
  return (
    <main>
      <div className="note" role="alert">
        <h1>{words.broken.title}</h1>
        <p>{words.broken.text}</p>
        <div className="row">
          <button type="button" className="button main" onClick={() => location.reload()}>
            {words.reload}
          </button>
        </div>
      </div>
    </main>
  );
}
