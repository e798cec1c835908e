"""Which of the product's languages a short text is written in."""

import re

from footnote.protocol.tools import Locale

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_VIETNAMESE = re.compile(
    r"[ăđơưĂĐƠƯạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹẠẢẤẦẨẪẬẮẰẲẴẶẸẺẼẾỀỂỄỆỈỊỌỎỐỒỔỖỘỚỜỞỠỢỤỦỨỪỬỮỰỲỴỶỸ]"
)


def detect_locale(text: str) -> Locale:
    """Chinese by its characters, Vietnamese by letters that nobody else has, otherwise English."""
    if _HAN.search(text):
        return "zh"
    return "vi" if _VIETNAMESE.search(text) else "en"
