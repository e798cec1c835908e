import { useId } from "react";

interface SegmentsProps<V extends string> {
  label: string;
  options: readonly { value: V; text: string; lang?: string }[];
  value: V;
  onChoose: (value: V) => void;
}

/** One of a few, all of them in sight. */
export function Segments<V extends string>({ label, options, value, onChoose }: SegmentsProps<V>) {
  const name = useId();
  return (
    <fieldset className="settings-choice">
      <legend className="settings-label">{label}</legend>
      <div className="settings-segments">
        {options.map((option) => (
          <label key={option.value} className="settings-segment">
            <input
              type="radio"
              className="ui-hidden"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChoose(option.value)}
            />
            <span lang={option.lang}>{option.text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
