/** A button in the page's head that opens a small panel below it. */

import { Popover } from "radix-ui";
import { type ReactNode, useId } from "react";
import { useTexts } from "../texts";

export function Panel({
  button,
  title,
  children,
}: {
  /** What stands on the button. */
  button: ReactNode;
  title: string;
  children: ReactNode;
}) {
  const texts = useTexts();
  const id = useId();
  return (
    <Popover.Root>
      <Popover.Trigger className="button quiet">{button}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className="panel"
          align="end"
          collisionPadding={8}
          aria-labelledby={`${id}-title`}
        >
          <h2 id={`${id}-title`}>{title}</h2>
          {children}
          <Popover.Close className="button quiet">{texts.close}</Popover.Close>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
