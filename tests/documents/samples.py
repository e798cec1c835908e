"""Texts in many languages and a long report, for the tests of converters."""

import base64
import struct
import zlib

VIETNAMESE_REPORT = """\
---
title: Điện mặt trời mái nhà ở Việt Nam
author: Nguyễn Thị Ánh
date: 2026-03-14
lang: vi
---

# Điện mặt trời mái nhà ở Việt Nam

Công suất điện mặt trời mái nhà đã tăng **từ 0,3 GW lên 9,6 GW** trong ba năm [1]. Tốc độ ấy nhanh hơn mọi dự báo
trước đó [2], và lưới điện ở nhiều tỉnh chưa kịp mở rộng [1, 3].

## Những con số chính

| Năm | Công suất (GW) | Số hệ thống | Ghi chú |
|-----|---------------:|------------:|---------|
| 2019 | 0,3 | 22.300 | Giá mua cố định bắt đầu có hiệu lực |
| 2020 | 9,3 | 101.000 | Cao điểm trước khi hết hạn ưu đãi |
| 2021 | 9,6 | 104.300 | Ngừng nhận đăng ký mới |

> “Chúng tôi không thiếu nắng, chúng tôi thiếu đường dây,” một kỹ sư ở Ninh Thuận nói.

### Việc cần làm tiếp

- [x] Rà soát quy hoạch truyền tải
- [ ] Thử nghiệm **pin lưu trữ** ở quy mô huyện
- [ ] Công bố giá mua điện mới
  1. theo vùng bức xạ
  2. theo giờ cao điểm

Sản lượng ước tính theo công thức $E = A \\cdot r \\cdot H \\cdot PR$, trong đó:

$$
PR = \\frac{E_{thực}}{E_{lý thuyết}} \\approx 0.78
$$

```python
def sản_lượng(diện_tích: float, bức_xạ: float) -> float:
    \"\"\"Điện năng mỗi năm, tính bằng kWh.\"\"\"
    return diện_tích * bức_xạ * 0.18 * 0.78  # hiệu suất tấm pin
```

Xem thêm [báo cáo của Bộ Công Thương](https://moit.gov.vn/bao-cao), mục `Quy hoạch điện VIII`[^qh], hoặc viết thư
tới <mailto:hoi@example.vn>. Nhiều hộ gia đình ghép thêm *bộ nghịch lưu hai chiều* để bán điện dư ☀️🔋.

[^qh]: Quyết định số 500/QĐ-TTg ngày 15 tháng 5 năm 2023, phần phụ lục III.
"""

SCRIPTS = {
    "vi": "Tiếng Việt giàu thanh điệu: ắ ằ ẳ ẵ ặ, ế ề ể ễ ệ, ố ồ ổ ỗ ộ; người nghiên cứu đọc từng trang.",
    "en": "The quick brown fox — 12,345.67 € — jumps over “lazy” dogs; naïve façade, coöperate.",
    "zh-Hans": "研究人员发现，太阳能发电的成本在十年内下降了百分之八十五。“这令人惊讶”，他说。",
    "zh-Hant": "研究人員發現，太陽能發電的成本在十年內下降了百分之八十五。這個結果讓許多學者感到驚訝。",
    "ja": "研究者たちは、太陽光発電のコストが十年間で八十五パーセント下がったことを発見しました。",
    "ko": "연구자들은 태양광 발전 비용이 십 년 만에 팔십오 퍼센트 낮아졌다는 사실을 발견했습니다.",
    "ar": "وجد الباحثون أن تكلفة الطاقة الشمسية انخفضت بنسبة كبيرة خلال عشر سنوات.",
    "he": "החוקרים מצאו שעלות האנרגיה הסולארית ירדה במידה ניכרת בתוך עשר שנים.",
    "th": "นักวิจัยพบว่าต้นทุนพลังงานแสงอาทิตย์ลดลงอย่างมากภายในสิบปี",
    "hi": "शोधकर्ताओं ने पाया कि दस वर्षों में सौर ऊर्जा की लागत बहुत कम हो गई है।",
    "ru": "Исследователи обнаружили, что стоимость солнечной энергии за десять лет резко снизилась.",
    "el": "Οι ερευνητές διαπίστωσαν ότι το κόστος της ηλιακής ενέργειας μειώθηκε πολύ σε δέκα χρόνια.",
    "emoji": "☀️ 🔋 ✅ 📈 😀 👩‍🔬 🌍 ⚠️ → ≤ ½ ™",
    "uk": "Дослідники виявили, що вартість сонячної енергії за десять років різко знизилася; ґанок, їжак.",
    "ka": "მკვლევარებმა აღმოაჩინეს, რომ მზის ენერგიის ღირებულება მკვეთრად შემცირდა.",
    "bn": "গবেষকরা দেখেছেন যে সৌর শক্তির খরচ দশ বছরে অনেক কমেছে।",
    "ta": "சூரிய ஆற்றலின் செலவு பத்து ஆண்டுகளில் வெகுவாகக் குறைந்துள்ளது.",
}
"""One sentence for each language."""

_CODE = {
    "python": 'def mean(values: list[float]) -> float:\n    """The average."""\n    return sum(values) / len(values)\n',
    "javascript": "export const mean = (values) =>\n  values.reduce((sum, value) => sum + value, 0) / values.length;\n",
    "sql": "SELECT region, avg(output) AS output\nFROM plants WHERE year >= 2020\nGROUP BY region ORDER BY 2 DESC;\n",
    "rust": "fn mean(values: &[f64]) -> f64 {\n    values.iter().sum::<f64>() / values.len() as f64\n}\n",
}
_FORMULAS = (
    r"\bar{x} = \frac{1}{n} \sum_{i=1}^{n} x_i",
    r"\int_0^\infty e^{-x^2} \, dx = \frac{\sqrt{\pi}}{2}",
    (
        r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}^{-1} = \frac{1}{ad - bc} "
        r"\begin{pmatrix} d & -b \\ -c & a \end{pmatrix}"
    ),
    r"f(x) = \begin{cases} x^2 & x \ge 0 \\ -x & x < 0 \end{cases}",
)
_ENGLISH = (
    "Solar generation grew faster than any forecast had expected, and the grid had to follow. Prices of modules fell "
    "by more than eighty per cent within a decade, while the cost of connecting them hardly moved at all. "
)


def png(width: int, height: int, colour: tuple[int, int, int] = (31, 95, 168)) -> bytes:
    """An image of one colour with a lighter diagonal."""
    rows = bytearray()
    for y in range(height):
        rows.append(0)
        for x in range(width):
            lit = abs(x * height - y * width) < width * 4
            rows += bytes((220, 230, 240)) if lit else bytes(colour)

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8yb"
    "qmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCAAI"
    "AAgDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAAAP/EAB"
    "QRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AIgAf//Z"
)
SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="320" height="120" viewBox="0 0 320 120">'
    b'<rect width="320" height="120" fill="#eef2f6"/><path d="M10 100 L90 60 L170 75 L300 15" stroke="#1f5fa8" '
    b'stroke-width="4" fill="none"/><circle cx="300" cy="15" r="6" fill="#1f5fa8"/></svg>'
)


def long_report(pages: int = 60) -> tuple[str, dict[str, bytes]]:
    """A report of about that many pages, and its images. It uses every construct of markdown, and seven languages."""
    images = {"/chart.png": png(480, 200), "/curve.svg": SVG}
    parts = ["# The state of solar power\n\nA long report, made for measuring.\n"]
    parts += [_chapter(number) for number in range(1, max(1, round(pages * 0.2)) + 1)]
    return "\n".join(parts), images


def _chapter(number: int) -> str:
    languages = ("vi", "zh-Hans", "ja", "ko", "ar", "th", "hi")
    language = languages[number % len(languages)]
    parts = [f"## Chapter {number}: findings\n\n{_ENGLISH * 4}See [the data](https://example.org/data/{number}).\n"]
    for section in range(1, 5):
        where = f"{number}.{section}"
        name, code = list(_CODE.items())[(number + section) % len(_CODE)]
        formula = _FORMULAS[(number + section) % len(_FORMULAS)]
        parts.append(
            f"### Section {where}\n\n{_ENGLISH * 3}The effect is **strong** and *steady* `run-{where}`"
            f"[^{number}-{section}]. {_ENGLISH * 2}\n\n{SCRIPTS[language] * 3}\n\n"
            + "".join(f"- Finding {where}.{item}: {_ENGLISH[:90]}\n" for item in range(1, 4))
            + f"\n```{name}\n{code}```\n\nIn short, $x_{{{section}}} \\le {number}$ and\n\n$$\n{formula}\n$$\n\n"
            + f"> {_ENGLISH}\n\n[^{number}-{section}]: Field notes {where}, <https://example.org/notes/{where}>.\n"
        )
    parts.append("| Region | Plants | Output (GWh) | Share | Remark |\n|---|--:|--:|:-:|---|\n")
    parts[-1] += "".join(
        f"| Region {number}-{row} | {row * 37} | {row * number * 11}.5 | {row}% | {_ENGLISH[: 30 + row]} |\n"
        for row in range(1, 21)
    )
    parts.append("![Output by year](chart.png)\n\n![A curve](./curve.svg)\n\n- [x] measured\n- [ ] published\n")
    return "\n".join(parts)
