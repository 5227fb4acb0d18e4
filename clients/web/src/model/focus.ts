/** Keeps the place of a guest who uses the keyboard, when what had the focus goes. */

/**
 * Gives the focus of an element that goes, such as a tapped answer, to the nearest part around it that stays: Tab goes
 * on from there, and a screen reader does not begin at the top again.
 */
export function keepFocus(): void {
  let around: Node[] = [];
  const came = (event: FocusEvent) => {
    around = event.composedPath().filter((one) => one instanceof HTMLElement);
  };
  // A guest who leaves an element, such as by a click beside it, has another place. An element that goes may say so
  // before it is gone.
  const left = ({ target }: FocusEvent) =>
    queueMicrotask(() => {
      if ((target as Node).isConnected && around[0] === target) around = [];
    });
  const watch = new MutationObserver(() => {
    if (document.activeElement !== document.body || around[0]?.isConnected !== false) return;
    const stays = around.find((one) => one.isConnected) as HTMLElement;
    around = [];
    if (stays === document.body) return;
    if (!stays.hasAttribute("tabindex")) {
      stays.tabIndex = -1;
      stays.addEventListener("blur", () => stays.removeAttribute("tabindex"), { once: true });
    }
    stays.focus({ preventScroll: true });
  });
  document.addEventListener("focusin", came);
  document.addEventListener("focusout", left);
  watch.observe(document.body, { childList: true, subtree: true });
}
