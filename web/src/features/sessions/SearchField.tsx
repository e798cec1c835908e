import { Search, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { searchSessions, sessionList } from "../../state/sessions";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { focusFirst } from "./arrowKeys";
import { words } from "./words";

const PAUSE_MS = 200;

/** Looks through all that was said, a moment after the last key. Escape empties it. */
export function SearchField() {
  const t = useWords(words);
  const asked = useStore(sessionList, (list) => list.query);
  const [typed, setTyped] = useState(asked);
  const [followed, setFollowed] = useState(asked);
  const field = useRef<HTMLInputElement>(null);
  // The search is cleared from elsewhere too, where nothing was found.
  if (asked !== followed) {
    setFollowed(asked);
    if (typed.trim() !== asked) setTyped(asked);
  }
  useEffect(() => {
    const wanted = typed.trim();
    if (wanted === sessionList.get().query) return;
    const timer = setTimeout(() => void searchSessions(wanted), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const clear = () => {
    setTyped("");
    void searchSessions("");
    field.current?.focus();
  };
  return (
    <div className="sessions-search">
      <Icon of={Search} />
      <input
        ref={field}
        type="search"
        className="ui-field"
        data-reach="session-search"
        aria-label={t.search}
        placeholder={t.search}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "ArrowDown" && focusFirst(event.currentTarget)) event.preventDefault();
          if (event.key !== "Escape" || typed === "") return;
          event.preventDefault();
          event.stopPropagation();
          clear();
        }}
      />
      {typed !== "" && <Button look="quiet" small icon={X} label={t.clearSearch} onClick={clear} />}
    </div>
  );
}
