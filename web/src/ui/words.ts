import { phrases } from "../lib/i18n";

export const words = phrases({
  en: {
    close: "Close",
    copy: "Copy",
    copied: "Copied",
    notShown: "This part couldn’t be displayed.",
    retryShowing: "Try again",
  },
  vi: {
    close: "Đóng",
    copy: "Sao chép",
    copied: "Đã sao chép",
    notShown: "Không hiển thị được phần này.",
    retryShowing: "Thử lại",
  },
  zh: { close: "关闭", copy: "复制", copied: "已复制", notShown: "这一部分无法显示。", retryShowing: "重试" },
});
