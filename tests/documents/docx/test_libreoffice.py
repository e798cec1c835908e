"""The files as LibreOffice reads them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from documents.docx.parsed_docx import open_docx
from documents.samples import SCRIPTS, VIETNAMESE_REPORT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice (soffice) is not installed"),
]


def read(folder: Path, *markdowns: str) -> list[str]:
    """The text that LibreOffice finds in the converted documents."""
    for number, markdown in enumerate(markdowns):
        (folder / f"{number}.docx").write_bytes(open_docx(markdown).made.content)
    convert(folder, "txt:Text (encoded):UTF8", *(f"{number}.docx" for number in range(len(markdowns))))
    return [(folder / f"{number}.txt").read_text("utf-8-sig") for number in range(len(markdowns))]


def convert(folder: Path, kind: str, *files: str) -> None:
    # A profile of its own: LibreOffice refuses one that is in use.
    command = ["soffice", f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", kind, *files]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=300)


def test_libreoffice_reads_every_script_as_it_was_written(tmp_path: Path) -> None:
    found = read(tmp_path, *(f"# {text}\n\n{text}\n\n- {text}\n\n> {text}\n" for text in SCRIPTS.values()))
    lines = [[line.strip().removeprefix("• ") for line in text.splitlines()] for text in found]
    assert dict(zip(SCRIPTS, lines, strict=True)) == {language: [text] * 4 for language, text in SCRIPTS.items()}


def test_libreoffice_reads_a_whole_report(tmp_path: Path) -> None:
    (found,) = read(tmp_path, VIETNAMESE_REPORT)
    assert [line.strip() for line in found.splitlines() if line.strip()] == [
        "Điện mặt trời mái nhà ở Việt Nam",
        "Nguyễn Thị Ánh · 2026-03-14",
        (
            "Công suất điện mặt trời mái nhà đã tăng từ 0,3 GW lên 9,6 GW trong ba năm [1]. Tốc độ ấy nhanh hơn mọi dự "
            "báo trước đó [2], và lưới điện ở nhiều tỉnh chưa kịp mở rộng [1, 3]."
        ),
        "Những con số chính",
        *("Năm", "Công suất (GW)", "Số hệ thống", "Ghi chú"),
        *("2019", "0,3", "22.300", "Giá mua cố định bắt đầu có hiệu lực"),
        *("2020", "9,3", "101.000", "Cao điểm trước khi hết hạn ưu đãi"),
        *("2021", "9,6", "104.300", "Ngừng nhận đăng ký mới"),
        "“Chúng tôi không thiếu nắng, chúng tôi thiếu đường dây,” một kỹ sư ở Ninh Thuận nói.",
        "Việc cần làm tiếp",
        "☒\tRà soát quy hoạch truyền tải",
        "☐\tThử nghiệm pin lưu trữ ở quy mô huyện",
        "☐\tCông bố giá mua điện mới",
        "1. theo vùng bức xạ",
        "2. theo giờ cao điểm",
        "Sản lượng ước tính theo công thức , trong đó:",
        "def sản_lượng(diện_tích: float, bức_xạ: float) -> float:",
        '"""Điện năng mỗi năm, tính bằng kWh."""',
        "return diện_tích * bức_xạ * 0.18 * 0.78  # hiệu suất tấm pin",
        (
            "Xem thêm báo cáo của Bộ Công Thương, mục Quy hoạch điện VIII1, hoặc viết thư tới hoi@example.vn. "
            "Nhiều hộ gia đình ghép thêm bộ nghịch lưu hai chiều để bán điện dư ☀️🔋."
        ),
    ]


def test_libreoffice_finds_the_headings_and_the_notes(tmp_path: Path) -> None:
    (tmp_path / "report.docx").write_bytes(open_docx(VIETNAMESE_REPORT).made.content)
    convert(tmp_path, "fodt", "report.docx")
    read_back = (tmp_path / "report.fodt").read_text("utf-8")
    headings = re.findall(r'<text:h [^>]*text:outline-level="(\d)"', read_back)
    assert headings == ["1", "2", "3"]
    assert len(re.findall('<text:note [^>]*text:note-class="footnote"', read_back)) == 1
    assert "500/QĐ-TTg" in read_back
