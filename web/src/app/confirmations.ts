import { router } from "../state/router";
import { view } from "../state/view";
import { openDialogs } from "../ui/Dialog";

/** A confirmation, such as "Delete this conversation?", is not part of the address. Back closes it, as Escape does, and the
 * page stays where it is: what the confirmation is about must not change behind it. */
export function closeConfirmationOnBack(): () => void {
  return router.block(() => {
    const { file, dialog } = view.get();
    const inAddress = [file, dialog].filter((one) => one !== null).length;
    const confirmation = openDialogs.get()[inAddress];
    confirmation?.escape();
    return confirmation !== undefined;
  });
}
