import type { ReactNode } from "react";
import { useWords } from "../../lib/i18n";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import "./files.css";
import { words } from "./words";

export interface ConfirmProps {
  title: string;
  children: ReactNode;
  /** What is done, as its button says. */
  verb: string;
  /** Nothing is lost by it. */
  harmless?: boolean;
  onConfirm: () => void;
  onClose: () => void;
  /** Further ways out, beside the first. */
  others?: ReactNode;
}

/** Asked before something is done that people should know the meaning of. */
export function Confirm({ title, children, verb, harmless, onConfirm, onClose, others }: ConfirmProps) {
  const t = useWords(words);
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="files-confirm">
        <div>{children}</div>
        <div className="files-confirm-ways">
          <Button onClick={onClose}>{t.cancel}</Button>
          {others}
          <Button look={harmless ? "main" : "danger"} onClick={onConfirm}>
            {verb}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
