import { ChevronDown, type LucideIcon } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { Boundary } from "../../../ui/Boundary";
import { Icon } from "../../../ui/Icon";
import "./tools.css";

export interface CardProps {
  icon: LucideIcon;
  title: string;
  argument: string;
  badge: ReactNode;
  progress: string | null;
  problem: string;
  /** What can be pressed on its own, next to what opens the card. */
  beside?: ReactNode;
  /** What is seen of the result though the card is closed. */
  below?: ReactNode;
  children: ReactNode;
}

/** The frame of a call: one line, which opens. What is inside is made only then. */
export function Card({ icon, title, argument, badge, progress, problem, beside, below, children }: CardProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <div className="chat-tool" data-open={open || undefined}>
      <div className="chat-tool-head">
        <button
          type="button"
          className="chat-tool-button"
          aria-expanded={open}
          aria-controls={open ? id : undefined}
          onClick={() => setOpen(!open)}
        >
          <Icon of={icon} />
          <span className="chat-tool-title" dir="auto">
            {title}
          </span>
          {argument && (
            <>
              <span className="chat-tool-dot"> · </span>
              <span className="chat-tool-argument" dir="auto">
                {argument}
              </span>
            </>
          )}
          <span className="chat-tool-end">
            {badge}
            <Icon of={ChevronDown} />
          </span>
        </button>
        {beside}
      </div>
      {progress && <p className="chat-tool-progress">{progress}</p>}
      {problem && !open && (
        <p className="chat-tool-problem" dir="auto">
          {problem}
        </p>
      )}
      {below}
      {open && (
        <div id={id} className="chat-tool-body">
          <Boundary>{children}</Boundary>
        </div>
      )}
    </div>
  );
}
