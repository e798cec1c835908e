import { ChatLog } from "./ChatLog";
import { useUnseenAnswer } from "./unseen";

export { ChatLog, useUnseenAnswer };
