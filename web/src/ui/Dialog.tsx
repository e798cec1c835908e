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

export interface OpenDialog {
  element: HTMLDialogElement;
  /** Does what Escape does. */
  escape: () => void;
}

/** The open dialogs, the topmost last. Everything outside the topmost one is inert. */
export const openDialogs = new Store<readonly OpenDialog[]>([]);

/** A modal dialog, open for as long as it is rendered. Its element is a child of the body and never of another dialog: a
 * browser that closes the outer one would hide the inner one with it. */
export function Dialog({ title, onClose, onEscape = onClose, mark, actions, size = "plain", children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const beside = useRef(false);
  const id = useId();
  const t = useWords(words);
  useModal(dialog, onEscape);
  return createPortal(
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog already; this is for a click beside it.
    <dialog
      ref={dialog}
      className="ui-dialog"
      data-size={size}
      aria-labelledby={id}
      // Browsers also send this event without a key, for the back gesture of a phone.
      onCancel={(event) => {
        // React bubbles the event to the dialogs around this one.
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
        // A text selection that is dragged out of the dialog must not close it.
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

function useModal(dialog: RefObject<HTMLDialogElement | null>, onEscape: () => void): void {
  const latest = useRef(onEscape);
  useEffect(() => {
    latest.current = onEscape;
  });
  // A dialog that is closed before it leaves the document returns the focus to where it was.
  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element) return;
    element.showModal();
    const opened: OpenDialog = { element, escape: () => latest.current() };
    openDialogs.set((known) => [...known, opened]);
    const stopListening = listenForEscape(opened);
    return () => {
      stopListening();
      openDialogs.set((known) => known.filter((one) => one !== opened));
      element.close();
      focusAgain();
    };
  }, [dialog]);
}

/** Chromium returns the focus to a field while that is still inert, which leaves it without a caret and deaf to typing.
 * Focused again, it works. */
function focusAgain(): void {
  const field = document.activeElement;
  if (!(field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement)) return;
  field.blur();
  field.focus({ preventScroll: true });
}

/** Escape is handled as a key: Chromium lets its `cancel` event be prevented only once, and closes the dialog by itself at
 * the next Escape unless something was clicked or typed in between. */
function listenForEscape(dialog: OpenDialog): () => void {
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
    if (openDialogs.get().at(-1) !== dialog) return;
    event.preventDefault();
    // A menu or a card over the dialog closes first; a card closes itself.
    const menu = document.querySelector<HTMLElement>("[popover=auto]:popover-open");
    if (menu) menu.hidePopover();
    else if (!document.querySelector("[role=tooltip]:popover-open")) dialog.escape();
  };
  addEventListener("keydown", press);
  return () => removeEventListener("keydown", press);
}

/** A dialog that the browser has closed while it is still rendered is opened again, and those over it once more, so that
 * they stay on top. */
function showAgain(element: HTMLDialogElement): void {
  const open = openDialogs.get().map((one) => one.element);
  if (element.open || !open.includes(element)) return;
  const [, ...above] = open.slice(open.indexOf(element));
  for (const one of above) one.close();
  for (const one of [element, ...above]) one.showModal();
}
