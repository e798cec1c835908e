import { Scale } from "lucide-react";
import { useId } from "react";
import { day } from "../../../lib/format";
import { useLocale, useWords } from "../../../lib/i18n";
import type { Disagreement, DisagreementValue, Source } from "../../../protocol/events.gen";
import { openPassage } from "../../../state/view";
import { Icon } from "../../../ui/Icon";
import { readableText } from "../../../ui/markdown";
import { words } from "./words";

export interface DisagreementsProps {
  all: readonly Disagreement[];
  sources: readonly Source[];
}

/** Where the sources of a search say different things, side by side. Each opens the passage that says it. */
export function Disagreements({ all, sources }: DisagreementsProps) {
  const t = useWords(words);
  const id = useId();
  if (all.length === 0) return null;
  return (
    <div className="chat-disagreements">
      <p id={id} className="chat-disagreements-title">
        <Icon of={Scale} />
        {t.disagreements}
      </p>
      <table aria-labelledby={id}>
        <thead className="ui-hidden">
          <tr>
            <th scope="col">{t.about}</th>
            <th scope="col">{t.says}</th>
            <th scope="col">{t.source}</th>
          </tr>
        </thead>
        {all.map(({ about, values }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they are never put into another order.
          <tbody key={at}>
            {values.map((value, index) => (
              <tr key={`${value.number} ${value.quote_start}`}>
                {index === 0 && (
                  <th scope="rowgroup" rowSpan={values.length} dir="auto">
                    {about}
                  </th>
                )}
                <Side value={value} source={sources.find(({ number }) => number === value.number) ?? null} />
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

function Side({ value, source }: { value: DisagreementValue; source: Source | null }) {
  const t = useWords(words);
  const locale = useLocale();
  const { number, text, quote_start, quote_end, published } = value;
  const title = source?.title || source?.url || String(number);
  const said = readableText(text);
  return (
    <>
      <td>
        <button
          type="button"
          className="chat-disagreements-value"
          aria-label={t.openSide(said, title)}
          dir="auto"
          onClick={() => openPassage(number, quote_start, quote_end)}
        >
          {said}
        </button>
      </td>
      <td>
        <span className="chat-result-number">{number}</span> <span dir="auto">{source?.domain ?? ""}</span>
        {published && <span className="chat-soft"> · {day(published, locale)}</span>}
      </td>
    </>
  );
}
