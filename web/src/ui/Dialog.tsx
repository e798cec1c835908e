import { X } from "lucide-react";
import { type ReactNode, type RefObject, useEffect, useId, useLayoutEffect, useRef } from "react";
import { createPortal } from "react-dom";
import { useWords } from "../lib/i18n";
import { Store } from "../lib/store";
import { Button } from "./Button";
import "./dialog.css";
import { words } from "./words";

export interface DialogProps {
  title: string;
  onClose: () => void;
  /** What Escape does instead of closing: something smaller that is open in it closes first. */
  onEscape?: () => void;
  /** Before the title. */
  mark?: ReactNode;
  /** Beside the title: what can be done with what is shown. */
  actions?: ReactNode;
  size?: "plain" | "large";
  children: ReactNode;
}

/** Those that are open, the topmost last: it alone is alive, so that what must be reached goes into it. */
export const openDialogs = new Store<readonly HTMLDialogElement[]>([]);

/** Over the page, with the keyboard inside it. It is open for as long as it is drawn. In the document it is never inside
 * another dialog, whoever draws it: a browser that closes the outer one would take the inner one out of sight with it. */
export function Dialog({ title, onClose, onEscape = onClose, mark, actions, size = "plain", children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const beside = useRef(false);
  const id = useId();
  const t = useWords(words);
  useModal(dialog);
  useEscape(dialog, onEscape);
  return createPortal(
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog already; this is for a click beside it.
    <dialog
      ref={dialog}
      className="ui-dialog"
      data-size={size}
      aria-labelledby={id}
      // The browser asks so without a key too: by the way back of a phone.
      onCancel={(event) => {
        // React tells the dialogs around it as well.
        if (event.target !== dialog.current) return;
        event.preventDefault();
        onEscape();
      }}
      onClose={(event) => {
        if (event.target === dialog.current) showAgain(event.currentTarget);
      }}
      onPointerDown={(event) => {
        beside.current = event.target === dialog.current;
      }}
      onClick={(event) => {
        // A selection that is drawn out of it ends beside it, and is no wish to close it.
        if (beside.current && event.target === dialog.current) onClose();
      }}
    >
      <div className="ui-dialog-head">
        {mark}
        <h2 id={id} className="ui-dialog-title" dir="auto">
          {title}
        </h2>
        {actions}
        <Button look="quiet" icon={X} label={t.close} onClick={onClose} />
      </div>
      <div className="ui-dialog-body">{children}</div>
    </dialog>,
    document.body,
  );
}

function useModal(dialog: RefObject<HTMLDialogElement | null>): void {
  // Closed while it is still in the page, it gives the keyboard back to where it was.
  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element) return;
    element.showModal();
    openDialogs.set((known) => [...known, element]);
    return () => {
      openDialogs.set((known) => known.filter((one) => one !== element));
      element.close();
      focusAnew();
    };
  }, [dialog]);
}

/** Chromium gives the focus back to a field while that is still inert, which leaves it without a caret: it has the focus, and
 * takes no text. Focused once more, it does. */
function focusAnew(): void {
  const field = document.activeElement;
  if (!(field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement)) return;
  field.blur();
  field.focus({ preventScroll: true });
}

/** Escape is handled as a key: Chromium lets its `cancel` event be prevented only once, and closes the dialog by itself at
 * the next Escape unless something was clicked or typed in between. */
function useEscape(dialog: RefObject<HTMLDialogElement | null>, onClose: () => void): void {
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
      if (openDialogs.get().at(-1) !== dialog.current) return;
      event.preventDefault();
      // A menu or a card over the dialog comes first; a card closes itself.
      const menu = document.querySelector<HTMLElement>("[popover=auto]:popover-open");
      if (menu) menu.hidePopover();
      else if (!document.querySelector("[role=tooltip]:popover-open")) close.current();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [dialog]);
}

/** A dialog that the browser has closed while it is still drawn is opened again, and those over it once more, so that
 * they stay on top. */
function showAgain(element: HTMLDialogElement): void {
  const open = openDialogs.get();
  if (element.open || !open.includes(element)) return;
  const [, ...above] = open.slice(open.indexOf(element));
  for (const one of above) one.close();
  for (const one of [element, ...above]) one.showModal();
}
