import pytest

from footnote.web_search.filters import country_code


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("AU", ["AU", "au", "AUS", "aus", "Australia", "AUSTRALIA", "Úc", "澳大利亚", "en-AU", "Perth, Australia"]),
        ("US", ["US", "USA", "usa", "U.S.", "United States", "the United States of America", "Mỹ", "Hoa Kỳ", "美国"]),
        ("GB", ["UK", "uk", "GBR", "Great Britain", "England", "Anh", "英国"]),
        ("VN", ["VN", "vn", "VNM", "Vietnam", "Viet Nam", "Việt Nam", "越南", "vi_VN"]),
        ("CN", ["CN", "China", "Trung Quốc", "中国", "中國", "PRC", "zh-Hans-CN"]),
        ("KR", ["KOR", "South Korea", "Korea", "Hàn Quốc", "韩国"]),
        ("CI", ["Ivory Coast", "Côte d’Ivoire", "Cote d'Ivoire"]),
        ("RU", ["RUS", "Russia", "Nga", "nga", "俄罗斯"]),
        ("NG", ["NGA", "Nigeria"]),
        ("MY", ["MY", "my", "Malaysia"]),
        ("TR", ["Turkey", "Türkiye"]),
        ("GE", ["Georgia"]),
        ("JP", ["Japan (JP)", "Japan/JP", " Nhật Bản "]),
    ],
)
def test_a_country_is_found_by_its_codes_and_names(code: str, names: list[str]) -> None:
    assert {name: country_code(name) for name in names} == dict.fromkeys(names, code)


@pytest.mark.parametrize("text", ["", " ", "Mars", "XX", "EN", "worldwide", "5", "🙂", ",", "a" * 100_000, "(" * 1_000])
def test_what_is_no_country_has_no_code(text: str) -> None:
    assert country_code(text) is None
