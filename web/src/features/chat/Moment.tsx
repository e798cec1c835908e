import { moment } from "../../lib/format";
import { useLocale } from "../../lib/i18n";

/** When something was said: quiet, and seen where a pointer is over the message. */
export function Moment({ at }: { at: string | null }) {
  const locale = useLocale();
  if (!at) return null;
  return (
    <time className="chat-moment" dateTime={at}>
      {moment(at, locale)}
    </time>
  );
}
