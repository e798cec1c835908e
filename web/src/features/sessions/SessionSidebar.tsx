import { Keyboard, PanelLeftClose, ScanSearch, Settings, SquarePen } from "lucide-react";
import { useEffect, useRef } from "react";
import { useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { catalog } from "../../state/catalog";
import { addressOf } from "../../state/router";
import { closeSheet, isPhone, openDialog } from "../../state/view";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { follow } from "./openSession";
import { SearchField } from "./SearchField";
import { SessionList } from "./SessionList";
import "./sessions.css";
import { words } from "./words";

/** All conversations: beside the page, or over it on a phone. */
export function SessionSidebar() {
  const t = useWords(words);
  const first = useRef<HTMLAnchorElement>(null);
  useSheet(first);
  return (
    <nav
      className="sessions-sidebar"
      aria-label={t.conversations}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.defaultPrevented || !isPhone()) return;
        event.preventDefault();
        closeSheet();
      }}
    >
      <div className="sessions-head">
        <span className="sessions-brand">
          Footnote<sup aria-hidden="true">1</sup>
        </span>
        <span className="sessions-close">
          <Button look="quiet" icon={PanelLeftClose} label={t.close} onClick={closeSheet} />
        </span>
      </div>
      <a ref={first} className="ui-button sessions-new" href={addressOf(null)} onClick={(event) => follow(event, null)}>
        <Icon of={SquarePen} />
        {t.newConversation}
      </a>
      <Button look="quiet" className="sessions-check" icon={ScanSearch} onClick={() => openDialog("check")}>
        {t.checkText}
      </Button>
      <SearchField />
      <SessionList />
      <Foot />
    </nav>
  );
}

function Foot() {
  const t = useWords(words);
  const name = useStore(catalog, (known) => known.me?.name ?? "");
  return (
    <div className="sessions-foot">
      <span className="sessions-account" dir="auto" title={name}>
        {name && <span className="ui-hidden">{t.account} </span>}
        {name}
      </span>
      <Button look="quiet" icon={Keyboard} label={t.shortcuts} onClick={() => openDialog("shortcuts")} />
      <Button look="quiet" icon={Settings} label={t.settings} onClick={() => openDialog("settings")} />
    </div>
  );
}

/** Over the page, the keyboard is in here and goes back to where it was. */
function useSheet(first: { current: HTMLElement | null }): void {
  useEffect(() => {
    if (!isPhone()) return;
    const before = document.activeElement;
    first.current?.focus({ preventScroll: true });
    return () => {
      if (before instanceof HTMLElement) requestAnimationFrame(() => before.isConnected && before.focus());
    };
  }, [first]);
}
