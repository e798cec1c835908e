import { type KeyboardEvent, useId } from "react";
import "./viewer.css";

export interface TabsProps<K extends string> {
  label: string;
  tabs: readonly { key: K; text: string }[];
  chosen: K;
  onChoose: (key: K) => void;
}

/** One of several ways to look at the same thing; the arrow keys go from one to the next. */
export function Tabs<K extends string>({ label, tabs, chosen, onChoose }: TabsProps<K>) {
  const id = useId();
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const at = tabs.findIndex(({ key }) => key === chosen);
    const steps: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = tabs.at(step % tabs.length);
    if (!next) return;
    onChoose(next.key);
    document.getElementById(`${id}-${tabs.indexOf(next)}`)?.focus();
  };
  return (
    <div role="tablist" aria-label={label} className="files-tabs" onKeyDown={move}>
      {tabs.map(({ key, text }, index) => (
        <button
          key={key}
          id={`${id}-${index}`}
          type="button"
          role="tab"
          className="files-tab"
          aria-selected={key === chosen}
          tabIndex={key === chosen ? 0 : -1}
          dir="auto"
          onClick={() => onChoose(key)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}
