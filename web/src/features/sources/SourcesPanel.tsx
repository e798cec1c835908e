import { FileSearch, Search } from "lucide-react";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { fold } from "../../lib/fold";
import { useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import type { Source } from "../../protocol/events.gen";
import { conversation } from "../../state/conversation";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { Entry } from "./Entry";
import { useFocusReturn } from "./focus";
import { type Cited, citedOf, type Group, groupsOf } from "./sourceGroups";
import "./sources.css";
import { words } from "./words";

/** So many sources are found by eye. */
const BY_EYE = 12;

/** Everything that was found in this session, search by search. */
export function SourcesPanel() {
  const t = useWords(words);
  const groups = useStore(conversation, (known) => groupsOf(known.turns));
  const cited = useStore(conversation, (known) => citedOf(known.turns));
  const [query, setQuery] = useState("");
  const [onlyCited, setOnlyCited] = useState(false);
  const panel = useRef<HTMLDivElement>(null);
  useFocusReturn(panel);
  const wanted = useDeferredValue(query);
  const shown = useMemo(
    () => (wanted.trim() === "" && !onlyCited ? groups : fitting(groups, wanted, onlyCited ? cited : null)),
    [groups, wanted, onlyCited, cited],
  );
  const all = countOf(groups);
  const left = countOf(shown);
  if (groups.length === 0) return <Empty />;
  return (
    <div ref={panel} className="sources-panel">
      <h2 className="ui-hidden">{t.sources}</h2>
      {(all > BY_EYE || cited.size > 0) && (
        <div className="sources-filter">
          {all > BY_EYE && (
            <input
              type="search"
              className="ui-field"
              aria-label={t.filter}
              placeholder={t.filter}
              value={query}
              onChange={(event) => setQuery(event.target.value)}
            />
          )}
          {(cited.size > 0 || onlyCited) && (
            <Button small aria-pressed={onlyCited} onClick={() => setOnlyCited(!onlyCited)}>
              {t.onlyCited}
            </Button>
          )}
          <span className="sources-count" role="status">
            {left < all ? t.shownOf(left, all) : t.count(all)}
          </span>
        </div>
      )}
      {shown.map((group) => (
        // What was closed opens when it is filtered: what fits must be seen.
        <GroupOfSources key={`${group.id}-${shown !== groups}`} group={group} cited={cited} />
      ))}
      {shown.length === 0 && (
        <div className="sources-none">
          <p>{t.nothingFits}</p>
          <Button
            small
            onClick={() => {
              setQuery("");
              setOnlyCited(false);
            }}
          >
            {t.clearFilter}
          </Button>
        </div>
      )}
    </div>
  );
}

function Empty() {
  const t = useWords(words);
  return (
    <div className="sources-none">
      <h2 className="ui-hidden">{t.sources}</h2>
      <span className="sources-none-sign">
        <Icon of={FileSearch} />
      </span>
      <p>{t.none}</p>
    </div>
  );
}

function GroupOfSources({ group, cited }: { group: Group; cited: ReadonlyMap<number, Cited> }) {
  const t = useWords(words);
  const { query, sources } = group;
  // A page that was read by its address is a group of its own, which has the address as its query.
  const isPage = sources.length === 1 && sources[0]?.url === query;
  return (
    <details className="sources-group" open>
      <summary>
        <Icon of={isPage ? FileSearch : Search} />
        <h3 dir="auto">{isPage ? t.readPage : query}</h3>
        <Badge>{t.count(sources.length)}</Badge>
      </summary>
      {sources.length === 0 ? (
        <p className="sources-nothing">{t.nothingFound}</p>
      ) : (
        <ul>
          {sources.map((source, index) => (
            <Entry key={keyOf(source, index)} source={source} cited={cited.get(source.number ?? -1) ?? null} />
          ))}
        </ul>
      )}
    </details>
  );
}

/** Each source once, in however many searches it was found. */
function countOf(groups: readonly Group[]): number {
  return new Set(groups.flatMap((group) => group.sources.map(({ number, url }) => number ?? url))).size;
}

function keyOf(source: Source, index: number): string {
  return `${index}-${source.url}`;
}

/** Groups in which nothing is left are left out. A group whose query fits is shown whole. */
function fitting(groups: readonly Group[], query: string, cited: ReadonlyMap<number, Cited> | null): Group[] {
  const terms = fold(query).split(/\s+/).filter(Boolean);
  const fits = (...texts: string[]) => {
    const text = fold(texts.join(" "));
    return terms.every((term) => text.includes(term));
  };
  return groups.flatMap((group) => {
    const sources = group.sources.filter(
      ({ number, title, domain, snippet, url }) =>
        (cited === null || (number !== null && cited.has(number))) && fits(group.query, title, domain, snippet, url),
    );
    return sources.length > 0 ? [{ ...group, sources }] : [];
  });
}
