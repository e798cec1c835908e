import { whenLeaving } from "../state/place";
import { view } from "../state/view";
import { openDialogs } from "../ui/Dialog";

/** A question over the page, such as whether to delete something, does not stand in the address. Back takes it away, as Escape
 * does, and leads nowhere: what is asked about would otherwise change behind it. */
export function closeQuestionOnStep(): () => void {
  return whenLeaving(() => {
    const { file, dialog } = view.get();
    const inAddress = [file, dialog].filter((one) => one !== null).length;
    const question = openDialogs.get()[inAddress];
    question?.dispatchEvent(new Event("cancel", { cancelable: true }));
    return question !== undefined;
  });
}
