import { X } from "lucide-react";
import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { useWords } from "../lib/i18n";
import { Store } from "../lib/store";
import { Button } from "./Button";
import "./dialog.css";
import { words } from "./words";

export interface DialogProps {
  title: string;
  onClose: () => void;
  /** Before the title. */
  mark?: ReactNode;
  /** Beside the title: what can be done with what is shown. */
  actions?: ReactNode;
  size?: "plain" | "large";
  children: ReactNode;
}

/** Those that are open, the topmost last: it alone is alive, so that what must be reached goes into it. */
export const openDialogs = new Store<readonly HTMLDialogElement[]>([]);

/** Over the page, with the keyboard inside it. It is open for as long as it is drawn. */
export function Dialog({ title, onClose, mark, actions, size = "plain", children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const beside = useRef(false);
  const id = useId();
  const t = useWords(words);
  // Closed while it is still in the page, it gives the keyboard back to where it was.
  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element) return;
    element.showModal();
    openDialogs.set((known) => [...known, element]);
    return () => {
      element.close();
      openDialogs.set((known) => known.filter((one) => one !== element));
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog already; this is for a click beside it.
    <dialog
      ref={dialog}
      className="ui-dialog"
      data-size={size}
      aria-labelledby={id}
      onCancel={(event) => {
        // React tells the dialogs around it as well.
        if (event.target !== dialog.current) return;
        event.preventDefault();
        onClose();
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
    </dialog>
  );
}
