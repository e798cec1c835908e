"""How Vietnamese speakers put things."""

from footnote.models.reader.phrases.table import Phrases

_ME = r"(?:tôi|mình|em|anh|chị|chúng tôi|tui)"
_FOR_ME = rf"(?: (?:giúp|cho|hộ) {_ME})?"
_ONE = r"(?: (?:một|1|thành|bản|bài|cái))*"
_REPORT = (
    r"(?:báo cáo|(?:bản|bài) (?:tóm tắt|tổng hợp)|tài liệu|bài viết|bài(?! thơ| hát| văn| toán| tập)|bản tin|"
    r"tổng quan|tiểu luận|tệp|file)"
)
_KIND = r"(?: (?:ngắn gọn|ngắn|chi tiết|tóm tắt|đầy đủ|nghiên cứu|tổng quan|phân tích|đánh giá|khoa học|nhỏ|dài)){0,3}"

VIETNAMESE = Phrases(
    talk={
        "about": (
            r"(?:vay |the )?(?:ban|may|cau|em|anh) la (?:ai|gi|cai gi)(?: vay| the| a)?",
            r"(?:ban|cau|em) (?:ten|ten la) (?:gi|la gi)|ten (?:ban|cua ban) la gi|ai (?:tao|lam) ra ban",
            r"(?:ban|cau|em) (?:co the |biet )?(?:lam|giup)(?: duoc| toi)?(?: nhung)? gi(?: cho toi)?(?: khong)?",
            r"(?:ban|em) hoat dong (?:nhu )?the nao|ban co phai (?:la )?(?:ai|nguoi|robot|bot)(?: khong)?",
            r"ban (?:la|dung) mo hinh (?:gi|nao)|(?:hay )?(?:tu )?gioi thieu ve (?:ban|minh|ban than)",
            r"giup (?:toi|minh|em)(?: voi)?|huong dan su dung",
        ),
        "conversation": (
            r"(?:toi|minh|em|chung ta) (?:vua|da|moi) (?:hoi|noi|ban)(?: ve)?(?: nhung)? (?:gi|dieu gi)\b.*",
            r"(?:tom tat|nhac lai|tong ket) (?:lai )?(?:cuoc (?:tro chuyen|hoi thoai|noi chuyen)|cau tra loi)\b.*",
            r"noi lai(?: di| xem| lan nua)?",
        ),
        "thanks": (
            r"(?:xin |rat |da |ok |vang )?cam on(?: (?:ban|anh|chi|em|nhieu|rat nhieu|lam|a|nhe|nha|footnote))*",
            r"(?:thank|thanks|tks)(?: (?:ban|nhieu|nhe|nha))*",
        ),
        "farewell": (r"(?:tam biet|bai bai|bye|chao tam biet|hen gap lai|chuc ngu ngon)(?: (?:ban|nhe|nha|a))*",),
        "remark": (
            r"ok|oke|duoc|duoc roi|tot|tot lam|hay qua|hay lam|tuyet|tuyet voi|vang|uh|um|khong|dung|dung roi|dong y",
            r"hieu roi|toi hieu roi|ro roi|xin loi|thoi|khong sao",
        ),
        "greeting": (
            r"(?:xin )?chao(?: (?:ban|anh|chi|em|cau|moi nguoi|footnote|buoi (?:sang|chieu|toi)))*|a ?lo|hi|hello",
            r"(?:ban|em|anh|chi) (?:co )?khoe khong|dao nay (?:ban )?the nao|rat vui duoc (?:gap|lam quen).{0,20}",
        ),
    },
    lead=(
        r"(?:xin |làm ơn |vui lòng )?hãy(?= )|xin vui lòng|vui lòng|làm ơn|xin (?=cho)|nhờ bạn",
        (
            rf"(?:bạn |anh |chị |em )?(?:có thể |hãy )?(?:cho|nói cho|kể cho) {_ME} (?:biết|hỏi|nghe|xem|xin)"
            r"(?: (?:thêm|rằng))?(?: (?:về|thông tin về))?"
        ),
        rf"bạn có (?:thể|biết)(?: (?:giúp|cho) {_ME})?(?= )",
        rf"{_ME} (?:muốn|cần) (?:biết|tìm hiểu|hỏi|tìm)(?: thêm)?(?: về)?",
        rf"(?:tìm kiếm|tra cứu|tìm hiểu|tìm){_FOR_ME} (?:về|thông tin về|thông tin|trên mạng)(?= )",
        rf"(?:tìm kiếm|tra cứu){_FOR_ME}(?= )|tìm (?:giúp|cho|hộ) {_ME}",
        rf"(?:giúp|cho) {_ME} (?:tìm hiểu|tìm|hiểu)(?: về)?|(?:giải thích|giới thiệu){_FOR_ME}(?: về)?(?= )",
    ),
    tail=(rf"(?:giúp|cho|hộ) {_ME}(?: với| nhé| nha| ạ)*|(?-i:nhé|nha|ạ)|(?:xin )?cảm ơn(?: bạn)?(?: nhiều)?",),
    report=(
        (
            rf"(?:(?:viết|lập|soạn|soạn thảo|làm|tạo|chuẩn bị|xây dựng|tổng hợp){_FOR_ME}|{_ME} (?:cần|muốn(?: có)?))"
            rf"{_ONE} {_REPORT}{_KIND}(?: (?:về|liên quan đến|nói về|với chủ đề|chủ đề))?\b:?(?P<topic>.*)"
        ),
        r"viết (?:gì đó )?về\b(?P<topic>.+)",
        (
            r"(?P<topic>.+?)(?<![,;.])(?<! rồi)(?<! và)(?<! sau đó)(?:[,;.]| rồi| và| sau đó)++"
            r" (?:viết|lập|lưu|làm|ghi|tổng hợp)(?: lại| nó)*"
            rf"(?: (?:thành|vào|ra))?{_ONE} (?:báo cáo|tệp|file|tài liệu)(?: về (?:nó|điều đó|việc đó))?"
        ),
    ),
    summary=(rf"(?:tóm tắt|tóm lược|tổng hợp){_FOR_ME}(?: (?:ngắn gọn|ngắn|nội dung|thông tin))*(?: về)?",),
    rewrite=(
        rf"(?:phiên )?dịch (?:sang|câu|đoạn|từ này|giúp|hộ|giùm|văn bản|bài|ra tiếng|cho {_ME})",
        r"viết lại\b|(?:sửa|chỉnh sửa|chỉnh)(?: lại| giúp)? (?:câu|đoạn|bài|lỗi|chính tả|văn bản|ngữ pháp)",
    ),
    compose=(
        (
            rf"(?:viết|làm|sáng tác|soạn|kể|tạo){_FOR_ME}(?: (?:một|bài|câu|cái|bức|đoạn|lá|1))* "
            r"(?:thơ|truyện|chuyện|bài hát|thư|email|mã|code|hàm|chương trình|bài văn|lời bài hát)\b"
        ),
    ),
    arithmetic=(r"tính|cộng|trừ|nhân|chia|bằng (?:bao nhiêu|mấy)",),
    arithmetic_fillers=(r"là (?:bao nhiêu|mấy)|kết quả|của",),
    today=(r"\b(?:hôm nay|sáng nay|chiều nay|tối nay)\b",),
    week=(r"\btuần (?:này|qua|vừa qua)\b",),
    month=(r"\btháng (?:này|qua|vừa qua)\b",),
    changes_daily=(
        r"\b(?:tin|thời tiết|nhiệt độ|giá|cổ phiếu|chứng khoán|tỷ giá|tỉ giá|vàng|xăng|vn-?index|kết quả|tỷ số)\b",
        r"\b(?:tỉ số|trận|lịch|xổ số|xảy ra|sự kiện|bão)\b",
    ),
    question_words=(r"\b(?:gì|ai|đâu|bao nhiêu|khi nào|tại sao|vì sao|nào|bao giờ|mấy|bao lâu)\b",),
    follow_ups=(r"(?:(?:thế|vậy) )?còn\b|(?:thế|vậy)(?: thì)?\b|và\b|nhưng\b|ngoài ra\b",),
    pronouns=(
        r"\b(?:nó|(?:ông|bà|anh|cô|chị|cậu) (?:ấy|ta)|(?:nơi|chỗ) (?:đó|đấy|này|ấy)|đấy)\b",
        r"(?<!trong )(?<!do )(?<!sau )(?<!khi )\bđó\b|(?<!dòng )\bhọ\b(?! tên| hàng| và tên)",
        r"(?<!công )(?<!quần )(?<!dân )\bchúng\b(?! ta| tôi)",
        r"\b(?:nước|công ty|đội|người|cuốn sách|bộ phim|thành phố|việc|sự kiện) (?:này|ấy)\b",
    ),
    stop_words=(
        r"là|gì|nào|ai|ở|đâu|bao|nhiêu|lâu|giờ|mấy|có|không|của|và|các|những|một|được|bị|cho|trong|với|về|thì|mà|như",
        r"thế|tại|sao|vì|khi|đã|đang|sẽ|từ|đến|này|đó|đấy|kia|ấy|hay|hoặc|nó|họ|ra|vào|rồi|cũng|do|để|bởi|theo|hãy|xin",
        r"tôi|bạn|mình|biết|còn|vậy|nhưng|ngoài|ta|ông|bà|phải|làm|điều|việc|rằng",
    ),
)

UNACCENTED_VIETNAMESE = (
    r"\b(?:la (?:gi|ai)|bao (?:nhieu|gio|lau|xa)|o dau|nhu the nao|tai sao|vi sao|khi nao|may gio|mau gi|nam nao|"
    r"cho toi|hom nay)\b"
)
"""Vietnamese that is written without its marks, or happens to have none of its own."""
