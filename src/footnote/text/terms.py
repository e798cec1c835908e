"""Terms and folding: the forms in which words and letters of two texts are compared.

A word is one term, folded by case and width. In scripts without spaces between words (Chinese, Japanese, Thai) every
two neighbouring characters are a term, and a single character is a term by itself.

`fold` works on a word and may change its length; `normalize` works letter by letter and keeps all offsets.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from msgspec import Struct

ALPHABETIC_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""The alphabets among `UNSPACED`: Thai, Lao, Burmese, Khmer. A single letter of them means next to nothing."""
HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
"""Chinese characters, as the inside of a character class."""
UNSPACED = f"{ALPHABETIC_UNSPACED}\u3040-\u30ff{HAN}"
"""Characters of scripts without spaces between words, as the inside of a character class."""
COMBINING_MARKS = "".join(mark for mark in map(chr, range(0x300, 0xE00)) if unicodedata.category(mark) in ("Mn", "Mc"))
"""Marks that belong to the letter before them, as the inside of a character class: accents, the vowels of Hindi, the
short vowels of Arabic. The `\\w` of a regular expression does not match them."""

SUPERSCRIPTS = "\u2070\u00b9\u00b2\u00b3\u2074-\u2079"
"""Digits of reference marks and exponents, as the inside of a character class. They do not belong to the word or number
before them."""

_LETTERS = rf"(?:[^\W\d_{UNSPACED}{SUPERSCRIPTS}]++[{COMBINING_MARKS}]*+)++"
_RUN = re.compile(rf"[{UNSPACED}]+|\d+(?:[.,:/]\d+)*|{_LETTERS}(?:['’\u00b7-]{_LETTERS})*")
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")

_TONE_BEFORE = {
    old: new
    for first, second in ("oa", "oe", "uy")
    for tone in "\u0300\u0301\u0303\u0309\u0323"
    for old, new in [
        (unicodedata.normalize("NFC", f"{first}{second}{tone}"), unicodedata.normalize("NFC", f"{first}{tone}{second}"))
    ]
}
"""`hoà` is the older spelling of `hòa`: at the end of a syllable, either vowel of these pairs can carry the tone."""


class Term(Struct, frozen=True, gc=False):
    """`text` is folded; the offsets are those of the word in the text that it came from."""

    text: str
    start: int
    end: int


def terms(text: str) -> Iterator[Term]:
    """The terms of a text, in order."""
    for run in _RUN.finditer(text):
        word, start = run.group(), run.start()
        if not _IS_UNSPACED.match(word):
            yield Term(fold(word), start, run.end())
        elif len(word) == 1:
            yield Term(word, start, run.end())
        else:
            for offset in range(len(word) - 1):
                yield Term(word[offset : offset + 2], start + offset, start + offset + 2)


def fold(word: str) -> str:
    """The word without differences of case, of width, of composed and decomposed letters, and of the two places of a
    Vietnamese tone."""
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", word).casefold()
    new = _TONE_BEFORE.get(folded[-2:])
    return folded[:-2] + new if new and folded[-3:-2] != "q" else folded


def strip_diacritics(word: str) -> str:
    """The word without diacritics, as Vietnamese is typed on a plain keyboard: `dien bien phu`."""
    plain = unicodedata.normalize("NFD", word.replace("đ", "d").replace("Đ", "D"))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def is_unspaced(text: str) -> bool:
    """Whether most of a text is in a script without spaces between words: Chinese, Japanese, Thai."""
    return len(_IS_UNSPACED.findall(text)) * 2 > sum(map(len, text.split()))


def has_unspaced(text: str) -> bool:
    """Whether a text has any character of a script without spaces between words."""
    return _IS_UNSPACED.search(text) is not None


# Folding letter by letter ------------------------------------------------------------------------------------------

_PAIRS = """
國国 學学 會会 來来 時时 為为 爲为 個个 們们 對对 這这 說说 發发 髮发 經经 後后 過过 還还 開开 關关 長长 問问 間间
門门 東东 車车 馬马 馮冯 駕驾 驗验 驚惊 魚鱼 鳥鸟 雞鸡 鴨鸭 龍龙 龜龟 華华 萬万 與与 專专 業业 叢丛 絲丝 兩两 嚴严
喪丧 豐丰 臨临 麗丽 舉举 義义 烏乌 樂乐 喬乔 習习 鄉乡 書书 買买 亂乱 爭争 虧亏 雲云 亞亚 產产 畝亩 親亲 億亿 僅仅
從从 侖仑 倉仓 儀仪 價价 眾众 衆众 優优 夥伙 傘伞 偉伟 傳传 傷伤 倫伦 偽伪 僞伪 體体 餘余 傭佣 俠侠 侶侣 偵侦 側侧
僑侨 債债 傾倾 償偿 儲储 兒儿 黨党 蘭兰 興兴 養养 獸兽 內内 岡冈 冊册 寫写 軍军 農农 沖冲 決决 況况 凍冻 淨净 涼凉
減减 湊凑 幾几 鳳凤 憑凭 凱凯 擊击 劃划 劉刘 則则 剛刚 創创 刪删 別别 劑剂 劇剧 勸劝 辦办 務务 動动 勵励 勁劲 勞劳
勢势 勳勋 區区 醫医 協协 單单 賣卖 盧卢 衛卫 卻却 廠厂 廳厅 歷历 曆历 厲厉 壓压 廁厕 廂厢 廈厦 縣县 參参 雙双 變变
敘叙 疊叠 葉叶 號号 歎叹 嘆叹 嚇吓 嗎吗 聽听 啟启 啓启 吳吴 員员 嗚呜 詠咏 嚨咙 鹹咸 響响 啞哑 喚唤 噴喷 嘗尝 嘩哗
團团 園园 圍围 圖图 圓圆 聖圣 場场 壞坏 塊块 堅坚 壇坛 墳坟 墜坠 壘垒 墾垦 執执 壩坝 牆墙 壯壮 聲声 殼壳 處处 備备
複复 復复 夠够 頭头 誇夸 夾夹 奪夺 奧奥 奮奋 獎奖 婦妇 媽妈 嬰婴 嬌娇 孫孙 寧宁 寶宝 實实 寵宠 審审 憲宪 宮宫 寬宽
賓宾 導导 尋寻 將将 爾尔 塵尘 堯尧 屍尸 盡尽 儘尽 層层 屬属 歲岁 豈岂 島岛 嶺岭 崗岗 峽峡 嶽岳 幣币 帥帅 師师 帳帐
帶带 幫帮 幹干 乾干 並并 併并 莊庄 慶庆 廬庐 庫库 應应 廟庙 龐庞 廢废 廣广 異异 棄弃 張张 彌弥 彎弯 彈弹 強强 歸归
當当 噹当 錄录 彥彦 徹彻 徑径 禦御 憶忆 懺忏 憂忧 懷怀 態态 憐怜 總总 戀恋 懇恳 惡恶 惱恼 悅悦 懸悬 憫悯 懼惧 慘惨
懲惩 憤愤 願愿 懶懒 戲戏 戰战 戶户 撲扑 擴扩 掃扫 揚扬 擾扰 撫抚 拋抛 摶抟 搶抢 護护 報报 擔担 擬拟 攏拢 揀拣 擁拥
攔拦 擰拧 撥拨 擇择 掛挂 摯挚 撓挠 擋挡 掙挣 擠挤 揮挥 撈捞 損损 撿捡 換换 搗捣 據据 擄掳 擲掷 攙搀 攝摄 擺摆 搖摇
攤摊 撐撑 敵敌 斂敛 數数 齋斋 鬥斗 斬斩 斷断 無无 舊旧 曠旷 晝昼 顯显 晉晋 曬晒 曉晓 暈晕 暫暂 術术 樸朴 機机 殺杀
雜杂 權权 條条 楊杨 極极 構构 槍枪 楓枫 櫃柜 檸柠 標标 棧栈 棟栋 欄栏 樹树 棲栖 樣样 樁桩 橋桥 檔档 檢检 樓楼 歐欧
歡欢 殘残 毀毁 畢毕 氣气 氫氢 漢汉 湯汤 溝沟 沒没 滬沪 淪沦 滄沧 淚泪 澤泽 潔洁 灑洒 淺浅 漿浆 濁浊 測测 濟济 渾浑
濃浓 濤涛 澇涝 漲涨 澀涩 淵渊 漁渔 滲渗 溫温 灣湾 濕湿 潰溃 濺溅 滾滚 滿满 濾滤 濫滥 濱滨 灘滩 瀟潇 瀾澜 滅灭 燈灯
靈灵 災灾 爐炉 點点 煉炼 爛烂 燭烛 煙烟 煩烦 燒烧 燙烫 熱热 煥焕 愛爱 爺爷 牽牵 犧牺 狀状 獵猎 獨独 獅狮 獄狱 貓猫
獻献 瑪玛 環环 現现 璽玺 瓊琼 電电 畫画 暢畅 療疗 瘋疯 瘡疮 癥症 癢痒 癡痴 癱瘫 癮瘾 皺皱 盞盏 鹽盐 監监 蓋盖 盜盗
盤盘 眥眦 睜睁 瞞瞒 矯矫 礦矿 碼码 磚砖 礎础 碩硕 確确 禮礼 禍祸 禪禅 離离 禿秃 種种 積积 稱称 穩稳 窮穷 竊窃 竅窍
豎竖 競竞 篤笃 筆笔 籠笼 築筑 篩筛 籌筹 簽签 簡简 籃篮 籬篱 類类 糧粮 緊紧 糾纠 紅红 紀纪 約约 級级 紋纹 納纳 紐纽
純纯 紗纱 綱纲 紛纷 紙纸 縱纵 紡纺 線线 綫线 練练 組组 紳绅 細细 織织 終终 紹绍 繹绎 繼继 績绩 緒绪 續续 綺绮 繩绳
維维 綿绵 綜综 綠绿 緩缓 締缔 編编 緣缘 縮缩 繪绘 給给 絡络 絕绝 絞绞 統统 繞绕 繳缴 結结 網网 羅罗 罰罚 罷罢 職职
聯联 聰聪 肅肃 腸肠 膚肤 腫肿 脹胀 脅胁 膽胆 勝胜 膠胶 臉脸 腦脑 腳脚 脫脱 臘腊 艦舰 艙舱 艷艳 藝艺 節节 蘆芦 蘇苏
蘋苹 範范 莖茎 薦荐 蕩荡 榮荣 藥药 萊莱 蓮莲 獲获 穫获 瑩莹 營营 蕭萧 薩萨 藍蓝 薔蔷 虛虚 蟲虫 雖虽 蝦虾 蝕蚀 蟻蚁
蠟蜡 蠅蝇 補补 襯衬 襲袭 裝装 褲裤 見见 觀观 規规 視视 覽览 覺觉 觸触 譽誉 計计 訂订 認认 討讨 讓让 訓训 議议 訊讯
記记 講讲 許许 論论 設设 訪访 證证 評评 識识 訴诉 診诊 詞词 譯译 試试 詩诗 誠诚 話话 誕诞 詢询 該该 詳详 語语 誤误
誘诱 請请 諸诸 諾诺 讀读 課课 誰谁 調调 諒谅 談谈 謀谋 謎谜 謝谢 謠谣 謹谨 譜谱 貝贝 貞贞 負负 貢贡 財财 責责 賢贤
敗败 賬账 貨货 質质 販贩 貪贪 貧贫 貶贬 購购 貫贯 賤贱 貼贴 貴贵 貸贷 貿贸 費费 賀贺 賊贼 賈贾 資资 賭赌 賞赏 賜赐
賠赔 賴赖 賺赚 賽赛 贊赞 讚赞 贈赠 贏赢 趙赵 趕赶 趨趋 躍跃 踐践 蹤踪 軌轨 軒轩 轉转 輪轮 軟软 轟轰 輕轻 載载 較较
輔辅 輛辆 輝辉 輯辑 輸输 辭辞 辯辩 邊边 遼辽 達达 遷迁 邁迈 運运 進进 遠远 違违 連连 遲迟 適适 選选 遜逊 遞递 邏逻
遺遗 鄧邓 鄭郑 鄰邻 郵邮 醬酱 釋释 裏里 裡里 鑒鉴 針针 釘钉 鋼钢 鈔钞 鐘钟 鍾钟 鈉钠 鋇钡 鑰钥 欽钦 鈞钧 鎢钨 鉤钩
鈕钮 錢钱 鉗钳 鑽钻 鐵铁 鉛铅 銀银 銅铜 鋁铝 銘铭 鋪铺 鏈链 銷销 鎖锁 鋒锋 錯错 錫锡 鑼锣 錘锤 錦锦 鍵键 鋸锯 鍋锅
鍛锻 鎮镇 鏡镜 閃闪 閉闭 閑闲 閒闲 悶闷 鬧闹 聞闻 閩闽 閥阀 閣阁 閱阅 闊阔 隊队 陽阳 陰阴 陣阵 階阶 際际 陸陆 陳陈
險险 隨随 隱隐 隸隶 難难 雛雏 霧雾 靜静 韓韩 頁页 頂顶 項项 順顺 須须 鬚须 頑顽 顧顾 頓顿 頒颁 頌颂 預预 領领 頗颇
頸颈 頻频 題题 額额 顏颜 顛颠 風风 飛飞 飯饭 飲饮 飾饰 飽饱 餅饼 館馆 饋馈 饑饥 飢饥 馳驰 駐驻 駛驶 驅驱 驢驴 駱骆
騎骑 騙骗 騷骚 魯鲁 鮮鲜 鯨鲸 鷹鹰 鴻鸿 鵝鹅 麥麦 黃黄 齊齐 齒齿 齡龄 臺台 檯台 颱台 麵面 纔才 佈布 佔占 徵征 衝冲
製制 係系 繫系 鬆松 捲卷 僕仆 採采 週周 遊游 託托 誌志 鬱郁 豬猪 罵骂 寢寝 澱淀 蔔卜 隻只 祇只 醜丑 鹼碱 穀谷 淒凄
纖纤 迴回 籲吁 於于 著着 羣群
"""

SIMPLIFIED = {pair[0]: pair[1] for pair in _PAIRS.split()}
"""The simplified form of the most frequent traditional Chinese characters."""

_WIDE = (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))


def _diacritic_map(letters: Iterable[str]) -> dict[str, str]:
    forms = {letter: unicodedata.normalize("NFD", letter) for letter in letters}
    return {
        letter: form[0] for letter, form in forms.items() if len(form) > 1 and all(map(unicodedata.combining, form[1:]))
    }


_NARROW = {chr(wide): chr(wide - 0xFEE0).lower() for wide in _WIDE}
_DIGITS = {chr(zero + digit): str(digit) for zero in (0x660, 0x6F0, 0x966) for digit in range(10)}
_VARIANTS = dict(zip("أإآٱىةکیё", "اااايهكيе", strict=True))
"""Arabic and Russian letters that have more than one spelling."""
_PLAIN = _diacritic_map(map(chr, (*range(0xDF, 0x250), *range(0x1E00, 0x1F00)))) | {"đ": "d"}
VARIANTS = str.maketrans(_VARIANTS)
_FOLDED = _NARROW | SIMPLIFIED | _DIGITS | _VARIANTS
_FOLDED_PLAIN = _FOLDED | _PLAIN
# Most pages have none of these letters, and searching for them is several times cheaper than replacing them.
_FOLDING = re.compile(f"[{''.join(_FOLDED)}]")
_FOLDING_PLAIN = re.compile(f"[{''.join(_FOLDED_PLAIN)}]")
_TABLE = str.maketrans(_FOLDED)
_TABLE_PLAIN = str.maketrans(_FOLDED_PLAIN)


def normalize(text: str, *, keep_diacritics: bool) -> str:
    """A text of the same length in lower case, half width and simplified characters, and without diacritics unless
    `keep_diacritics`."""
    lowered = text.lower()
    if len(lowered) != len(text):
        # A few capital letters have a lower case of two characters: they stay.
        lowered = "".join(lower if len(lower := letter.lower()) == 1 else letter for letter in text)
    if lowered.isascii():
        return lowered
    if keep_diacritics:
        return lowered.translate(_TABLE) if _FOLDING.search(lowered) else lowered
    return lowered.translate(_TABLE_PLAIN) if _FOLDING_PLAIN.search(lowered) else lowered
