"""Why a page could not be read, in the reader's language."""

from collections.abc import Mapping
from typing import Final

from footnote.protocol.sources import PageFailure, PageReport
from footnote.protocol.tools import Locale

_REASONS: Final[Mapping[Locale, Mapping[PageFailure, str]]] = {
    "vi": {
        "refused_address": "không được phép đọc địa chỉ này",
        "robots": "trang yêu cầu máy không đọc (robots.txt)",
        "dns": "không tìm thấy máy chủ",
        "connection": "kết nối thất bại",
        "tls": "chứng chỉ không hợp lệ",
        "timeout": "mất quá nhiều thời gian",
        "status": "trang trả về lỗi",
        "redirects": "trang chuyển hướng quá nhiều lần",
        "too_large": "trang quá lớn",
        "media_type": "đây không phải là văn bản",
        "unreadable": "nội dung bị hỏng",
        "empty": "trang không có văn bản",
        "needs_javascript": "trang chỉ hiện nội dung khi chạy JavaScript",
        "consent_wall": "trang yêu cầu chấp thuận trước khi xem",
    },
    "zh": {
        "refused_address": "不允许读取该地址",
        "robots": "网站要求机器不要读取（robots.txt）",
        "dns": "找不到主机",
        "connection": "连接失败",
        "tls": "证书无效",
        "timeout": "耗时过长",
        "status": "网站返回了错误",
        "redirects": "跳转次数过多",
        "too_large": "内容过大",
        "media_type": "不是文本内容",
        "unreadable": "内容已损坏",
        "empty": "页面没有文字",
        "needs_javascript": "需要运行 JavaScript 才能显示内容",
        "consent_wall": "需要先同意条款才能查看",
    },
}
"""English has the words of the report itself, which say more."""
_UNREADABLE: Final[Mapping[Locale, str]] = {
    "en": "{} could not be read: {}.",
    "vi": "Không đọc được {}: {}.",
    "zh": "无法读取 {}：{}。",
}


def unread_reason(report: PageReport, locale: Locale) -> str:
    """Empty if the report has none."""
    words = _REASONS.get(locale, {}).get(report.failure) if report.failure is not None else None
    if words is None:
        return report.reason or ""
    return f"{words} (HTTP {report.http_status})" if report.failure == "status" and report.http_status else words


def unreadable(report: PageReport, locale: Locale) -> str:
    """The sentence about a page that could not be read."""
    return _UNREADABLE[locale].format(report.url, unread_reason(report, locale))
