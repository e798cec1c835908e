import type { LucideIcon } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { Button, type ButtonProps } from "./Button";
import { Icon } from "./Icon";
import { positionBeside } from "./position";
import "./menu.css";

export interface MenuItem {
  key: string;
  text: ReactNode;
  note?: ReactNode;
  icon?: LucideIcon;
  /** One of several that may be chosen, and whether it is. */
  checked?: boolean;
  disabled?: boolean;
  look?: "plain" | "danger";
  /** An address to go to instead of something to do. */
  href?: string;
  onChoose?: () => void;
}

/** A button that opens a list of things to do, or to choose from. */
export function Menu({ items, ...button }: { items: readonly MenuItem[] } & ButtonProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const show = (last = false) => {
    if (!list.current || !opener.current) return;
    // What is in it must be there before it is placed and gets the keyboard.
    flushSync(() => setOpen(true));
    list.current.showPopover();
    positionBeside(opener.current, list.current);
    const all = list.current.querySelectorAll<HTMLElement>("[role^=menuitem]");
    const checked = list.current.querySelector<HTMLElement>("[aria-checked=true]");
    (checked ?? all[last ? all.length - 1 : 0])?.focus();
  };
  const choose = (item: MenuItem) => {
    if (item.disabled) return;
    list.current?.hidePopover();
    opener.current?.focus();
    item.onChoose?.();
  };
  return (
    <>
      <Button
        {...button}
        ref={opener}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => (open ? list.current?.hidePopover() : show())}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
          event.preventDefault();
          show(event.key === "ArrowUp");
        }}
      />
      <div
        id={id}
        ref={list}
        role="menu"
        aria-label={button.label ?? (typeof button.children === "string" ? button.children : undefined)}
        popover="auto"
        className="ui-menu"
        onToggle={(event) => setOpen(event.newState === "open")}
        onKeyDown={(event) => moveInside(event, opener.current)}
      >
        {open && items.map((item) => <Entry key={item.key} item={item} onChoose={() => choose(item)} />)}
      </div>
    </>
  );
}

function Entry({ item, onChoose }: { item: MenuItem; onChoose: () => void }) {
  const content = (
    <>
      {item.icon && <Icon of={item.icon} />}
      <span className="ui-menu-text">
        {item.text}
        {item.note && <span className="ui-menu-note">{item.note}</span>}
      </span>
    </>
  );
  const shared = { className: "ui-menu-item", "data-look": item.look, tabIndex: -1 };
  if (item.href !== undefined)
    return (
      <a {...shared} role="menuitem" href={item.href} onClick={onChoose} download>
        {content}
      </a>
    );
  const role =
    item.checked === undefined ? { role: "menuitem" } : { role: "menuitemradio", "aria-checked": item.checked };
  return (
    <button {...shared} {...role} type="button" aria-disabled={item.disabled || undefined} onClick={onChoose}>
      {content}
    </button>
  );
}

function moveInside(event: KeyboardEvent<HTMLElement>, opener: HTMLElement | null): void {
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>("[role^=menuitem]")];
  const at = all.indexOf(document.activeElement as HTMLElement);
  const step = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (step !== undefined) {
    event.preventDefault();
    all.at(step % all.length)?.focus();
  } else if (event.key === "Escape" || event.key === "Tab") {
    if (event.key === "Escape") {
      // A dialog around it stays open.
      event.preventDefault();
      event.stopPropagation();
    }
    event.currentTarget.hidePopover();
    opener?.focus();
  }
}
