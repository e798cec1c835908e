import { phrases } from "../../lib/i18n";

export const words = phrases({
  en: {
    title: "Check a text",
    field: "A text with its sources, or the address of a page",
    placeholder: "Paste a report with links, footnotes or a list of references – or one address, such as https://…",
    means:
      "Footnote reads up to 60 of its links, and compares each statement with the page that it cites. What isn’t supported is marked. No model is needed.",
    check: "Check",
    starting: "Starting…",
    address: "This page will be read and checked.",
    letters: (count: string) => `${count} characters`,
    cancel: "Cancel",
  },
  vi: {
    title: "Kiểm tra một văn bản",
    field: "Văn bản có dẫn nguồn, hoặc địa chỉ của một trang",
    placeholder: "Dán một báo cáo có liên kết, chú thích hoặc danh mục tham khảo – hoặc một địa chỉ như https://…",
    means:
      "Footnote đọc tối đa 60 liên kết và so từng nhận định với trang mà nó dẫn. Chỗ nào không có căn cứ sẽ được đánh dấu. Không cần mô hình.",
    check: "Kiểm tra",
    starting: "Đang bắt đầu…",
    address: "Trang này sẽ được đọc và kiểm tra.",
    letters: (count: string) => `${count} ký tự`,
    cancel: "Hủy",
  },
  zh: {
    title: "核对文本",
    field: "带有来源的文本，或一个网页地址",
    placeholder: "粘贴带有链接、脚注或参考文献的报告，或输入一个地址，例如 https://…",
    means: "Footnote 最多读取其中 60 个链接，并将每条陈述与其引用的网页比对。没有依据的内容会被标出。无需模型。",
    check: "核对",
    starting: "正在开始…",
    address: "将读取并核对该网页。",
    letters: (count: string) => `${count} 个字符`,
    cancel: "取消",
  },
});
