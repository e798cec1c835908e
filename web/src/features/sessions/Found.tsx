import { Fragment } from "react";
import { placesOf } from "../../lib/fold";

/** A text with the words marked that a session was found by. */
export function Found({ text, query }: { text: string; query: string }) {
  const places = placesOf(query, text);
  const ends = [0, ...places.map(({ end }) => end)];
  return (
    <>
      {places.map(({ start, end }, index) => (
        <Fragment key={start}>
          {text.slice(ends[index], start)}
          <mark>{text.slice(start, end)}</mark>
        </Fragment>
      ))}
      {text.slice(ends.at(-1))}
    </>
  );
}
