import { phrases } from "../lib/i18n";

/** What the server cannot say itself. */
export const words = phrases({
  en: {
    offline: "Can’t reach the server. Nothing is lost; try again when you’re back online.",
    unreadable: (status: number) => `The server returned an error (${status}) without an explanation.`,
    unsent: "Not sent: you left the conversation first.",
  },
  vi: {
    offline: "Không kết nối được máy chủ. Không mất gì cả; hãy thử lại khi có kết nối.",
    unreadable: (status: number) => `Máy chủ trả về lỗi (${status}) mà không giải thích.`,
    unsent: "Chưa được gửi: bạn đã rời cuộc trò chuyện trước đó.",
  },
  zh: {
    offline: "无法连接到服务器。内容不会丢失，请在网络恢复后重试。",
    unreadable: (status: number) => `服务器返回了错误（${status}），但没有说明原因。`,
    unsent: "未发送：你在此之前已离开该对话。",
  },
});
