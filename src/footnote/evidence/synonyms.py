"""Other words for the same: forms and words that may stand for each other in any text, whatever it is about.

A group has only words of which each says what the others say. Words that say more (`murdered` for `killed`), less or
something of another kind (`city`, `town`) are not in one group.
"""

from typing import Final

from footnote.text.stems import derivational_stem

_SAME: Final = """
begin begins beginning began begun start starts started starting commence commenced initiate initiated
| end ends ended ending finish finished finishes conclude concluded complete completes completed completing completion
| film films movie movies
| big bigger biggest large larger largest
| buy buys bought buying purchase purchased purchases purchasing acquire acquires acquired acquiring acquisition
| show shows showed shown demonstrate demonstrates demonstrated
| build builds built building constructed construct constructs construction erect erected erecting
| help helps helped aid aids aided assist assists assisted assistance
| get gets got gotten obtain obtains obtained receive receives received
| write writes wrote written writing
| rise rises rose risen rising increase increases increased increasing grow grows grew grown growing growth climb
climbs climbed
| fall falls fell fallen decrease decreases decreased decline declines declined drop drops dropped dropping
| win wins won winning
| lose loses lost losing
| lead leads led leading head heads headed heading
| hold holds held holding
| choose chooses chose chosen choice select selects selected pick picks picked
| become becomes became
| make makes made making
| take takes took taken taking
| give gives gave given giving
| know knows knew known
| think thinks thought
| bring brings brought
| teach teaches taught
| speak speaks spoke spoken
| fight fights fought fighting
| send sends sent
| sell sells sold selling sale
| spend spends spent spending
| meet meets met meeting
| run runs ran running operate operates operated operating
| sing sings sang sung
| swim swims swam swum
| drive drives drove driven
| break breaks broke broken
| steal steals stole stolen
| strike strikes struck
| throw throws threw thrown
| draw draws drew drawn
| fly flies flew flown flight
| eat eats ate eaten
| drink drinks drank drunk
| wear wears wore worn
| shoot shoots shot shooting
| spread spreads spreading
| die dies died dying death deaths dead
| marry marries married marriage
| employ employs employed hire hires hired
| use uses used using utilise utilises utilised utilize utilizes utilized
| need needs needed require requires required
| resident residents inhabitant inhabitants
| child children kid kids
| man men
| woman women
| person people persons
| foot feet
| tooth teeth
| mouse mice
| car cars automobile automobiles
| physician physicians doctor doctors
| illness illnesses disease diseases
| defeat defeats defeated beat beats beaten
| quick quickly fast rapid rapidly
| frequent frequently often
| roughly approximately about
| centre centres center centers
| theatre theatres theater theaters
| metre metres meter meters
| litre litres liter liters
| fibre fibres fiber fibers
| defence defense
| licence license
| tyre tire
| grey gray
| programme programmes program programs
| analyse analyses analysed analyze analyzes analyzed analysis
| aluminium aluminum
| tv television
| hang hangs hung hanged
| collect collects collected collecting gather gathers gathered gathering
| arrest arrests arrested detain detains detained
| permit permits permitted allow allows allowed authorise authorises authorised authorize authorizes authorized
| forbid forbids forbade forbidden prohibit prohibits prohibited ban bans banned banning outlaw outlawed
| reply replies replied answer answers answered
| stay stays stayed remain remains remained
| smart intelligent clever
| stage phase
| stalk stem
| huge enormous vast
| picture pictures image images
| kill kills killed slay slain
| attain attains attained reach reaches reached
| annual annually yearly
| publish publishes published publication
| release releases released launch launches launched introduce introduces introduced
| premiere premieres premiered debut debuts debuted
| worldwide global globally
| usual usually
| sufficient enough
| comprise comprises comprised consist consists consisted
| infect infects infected infection infections
| treat treats treated treatment treatments
| prevent prevents prevented prevention
| protect protects protected protection
| transmit transmits transmitted transmission
| lethal fatal
| newborn newborns neonate neonates
| establish establishes established establishing create creates created creating
| discover discovers discovered discovering find finds
| supply supplies supplied supplying provide provides provided providing
| approve approves approved approval
| renovate renovated renovation refurbish refurbished refurbishment
| produce produces produced producing production manufacture manufactures manufactured manufacturing
| live lives lived living reside resides resided residing
| move moves moved moving relocate relocates relocated relocation
| leave leaves left leaving depart departs departed
| announce announces announced announcement declare declares declared
| stop stops stopped stopping halt halts halted cease ceases ceased
| delay delays delayed postpone postpones postponed
| close closes closed closing closure shut shuts shutting
| open opens opened opening inaugurate inaugurated inauguration
| enlarge enlarges enlarged expand expands expanded expanding expansion
| replace replaces replaced replacing supersede superseded
| divide divides divided split splits
| injure injures injured wound wounds wounded
| own owns owned possess possesses possessed
| retain retains retained keep keeps kept keeping
| change changes changed changing alter alters altered modify modifies modified
| invent invents invented devise devises devised
| connect connects connected connecting link links linked
| cover covers covered covering span spans spanned
| weigh weighs weighed weight
| tall high height
| long length
| wide width
| deep depth
| rely relies relied relying depend depends depended dependent
| examine examines examined investigate investigates investigated
| capture captures captured seize seizes seized
| flee flees fled escape escapes escaped
| explode explodes exploded explosion explosions blast blasts
| earthquake earthquakes quake quakes
| cause causes caused causing trigger triggers triggered
| attack attacks attacked assault assaults assaulted
| conduct conducts conducted perform performs performed
| consider considers considered regard regards regarded deem deemed
| headquarters headquartered
| company companies firm firms corporation corporations
| worker workers employee employees staff
| customer customers client clients
| lawyer lawyers attorney attorneys
| author authors
| pupil pupils student students
| airplane airplanes aeroplane aeroplanes plane planes
| railway railways railroad railroads
| motorway motorways highway highways
| chairman chairmen chairwoman chairperson chair
| country countries nation nations
| famous famed renowned
| effect effects impact impacts
| method methods technique techniques
| problem problems issue issues
| revenue revenues turnover
| prison prisons jail jails gaol
| slow slowly
| initial initially original originally
| difficult hard
| colour colours color colors
| labour labor
| favour favor
| harbour harbours harbor harbors
| neighbour neighbours neighbor neighbors
| neighbourhood neighborhood
| honour honours honor honors
| behaviour behavior
| flavour flavor
| humour humor
| rumour rumours rumor rumors
| armour armor
| vapour vapor
| tumour tumours tumor tumors
| odour odor
| catalogue catalog
| dialogue dialog
| jewellery jewelry
| travelled traveled
| cancelled canceled
| plough plow
| sceptical skeptical
| mould mold
| practise practice
| ageing aging
| archaeology archeology
| paediatric pediatric
| leukaemia leukemia
| anaemia anemia
| oestrogen estrogen
| diarrhoea diarrhea
| manoeuvre maneuver
| sulphur sulfur
| storey storeys story stories
"""
_SAME_PHRASES: Final = """
usa: united states of america | united states | u s a | u s | us | usa
| uk: united kingdom | u k | uk | great britain
| eu: european union | e u | eu
| un: united nations | u n | un
| who: world health organization | world health organisation
| mỹ: hoa kỳ | hợp chủng quốc
xây dựng: xây dựng | xây
sử dụng: sử dụng | dùng
bắt đầu: bắt đầu | khởi đầu
thành lập: thành lập | sáng lập
gây ra: gây ra | dẫn đến | dẫn tới | gây nên
hiện nay: hiện nay | hiện tại | ngày nay
拥有: 拥 有 | 持 有 | 具 有
位于: 位 于 | 坐 落 于 | 地 处 | 坐 落 在
成立: 成 立 | 创 立 | 创 建 | 创 办 | 建 立 | 设 立
使用: 使 用 | 采 用 | 利 用 | 运 用
公布: 发 布 | 公 布
帮助: 帮 助 | 协 助
导致: 导 致 | 引 起 | 造 成 | 引 发
获得: 获 得 | 取 得 | 得 到
包括: 包 括 | 包 含
去世: 去 世 | 逝 世 | 过 世
目前: 目 前 | 现 在 | 如 今
称赞: 称 赞 | 赞 扬
组成: 组 成 | 构 成
建造: 建 造 | 修 建 | 兴 建
举行: 举 行 | 举 办
resign: resign | resigned | step down | stepped down | steps down
establish: set up | sets up | setting up
demolish: demolish | demolished | tear down | tore down | torn down
cancel: cancel | cancelled | canceled | call off | called off
close: shut down | shuts down | close down | closed down
die: pass away | passed away
famous: well known | widely known
best known: best known | most known | best famous | most famous
cause: lead to | leads to | led to | leading to | result in | results in | resulted in | resulting in
take effect: take effect | takes effect | took effect | come into force | came into force | comes into force
take effect: enter into force | entered into force | enters into force | go into effect | went into effect
take effect: became effective
conduct: carry out | carries out | carried out | carrying out
comprise: composed of | made up of | consists of | consist of | consisted of | comprise | comprises | comprised
comprise: comprised of
amount to: account for | accounts for | accounted for | make up | makes up | constitute | constitutes | constituted
amount to: represent | represents | represented
occur: take place | takes place | took place | taken place
flow into: flow into | flows into | flowed into | empty into | empties into | drain into | drains into
each day: each day | every day | per day | a day | daily
each week: each week | every week | per week | a week | weekly
each month: each month | every month | per month | a month | monthly
each year: each year | every year | per year | a year | per annum | yearly | annual
each person: per capita | per head | per person
ceo: chief executive officer | chief executive | ceo
gdp: gross domestic product | gdp
ai: artificial intelligence | ai
co2: carbon dioxide | co2
nyc: new york city | nyc
mua lại: mua lại | thâu tóm
hoàn thành: hoàn thành | hoàn tất
nằm: tọa lạc | nằm
chết: thiệt mạng | tử vong | tử nạn | chết
qua đời: qua đời | từ trần | tạ thế
làm: khiến cho | khiến | làm cho | làm
phát hiện: phát hiện ra | phát hiện | tìm thấy | tìm ra
phát hành: phát hành | xuất bản | ấn hành
tăng: gia tăng | tăng lên | tăng
giảm: sụt giảm | giảm xuống | giảm
công ty: công ty | doanh nghiệp | hãng
đại học: trường đại học | đại học
máy bay: máy bay | phi cơ
tàu hỏa: tàu hỏa | xe lửa
thay đổi: thay đổi | biến đổi
phụ thuộc: phụ thuộc | lệ thuộc | dựa vào
cung cấp: cung cấp | cung ứng
phê duyệt: phê duyệt | phê chuẩn | chấp thuận
dài: chiều dài | độ dài | dài
cao: chiều cao | độ cao | cao
rộng: chiều rộng | rộng
sâu: độ sâu | chiều sâu | sâu
chuyển đến: chuyển đến | chuyển tới | dời đến
kết hôn: kết hôn | cưới
sinh ra: sinh ra | chào đời
giành: giành được | giành | đoạt
đánh bại: đánh bại | hạ gục
cư dân: cư dân | người dân | dân cư
ô tô: xe ô tô | ô tô | xe hơi
mỗi ngày: mỗi ngày | hàng ngày | hằng ngày | một ngày
mỗi năm: mỗi năm | hàng năm | hằng năm
nổi tiếng: nổi tiếng | lừng danh | trứ danh
工厂: 工 厂 | 厂
收购: 收 购 | 并 购 | 买 下
建成: 建 成 | 完 工 | 竣 工 | 落 成
死亡: 死 亡 | 遇 难 | 丧 生 | 身 亡 | 罹 难
增长: 增 长 | 增 加 | 上 升 | 上 涨
减少: 减 少 | 下 降 | 下 跌 | 降 低
流入: 流 入 | 注 入 | 汇 入
收藏: 收 藏 | 藏
词典: 词 典 | 字 典
每天: 每 天 | 每 日
发现: 发 现 | 找 到
批准: 批 准 | 核 准
启用: 启 用 | 投 入 使 用
雇用: 雇 用 | 聘 用 | 雇 佣 | 聘 请
公司: 公 司 | 企 业
出生: 出 生 | 诞 生
结婚: 结 婚 | 成 婚 | 完 婚
摧毁: 摧 毁 | 毁 坏 | 毁 掉
宣布: 宣 布 | 宣 告
著名: 著 名 | 知 名 | 有 名 | 闻 名
生产: 生 产 | 制 造
电影: 电 影 | 影 片
获胜: 获 胜 | 取 胜 | 胜 出
击败: 击 败 | 打 败 | 战 胜
逮捕: 逮 捕 | 拘 捕
受伤: 受 伤 | 负 伤
迁往: 迁 往 | 迁 至 | 搬 到 | 搬 至
命名: 命 名 | 取 名
改变: 改 变 | 变 更
购买: 购 买 | 购 入
出售: 出 售 | 卖 出 | 售 出
依靠: 依 靠 | 依 赖
担任: 担 任 | 出 任
"""
_SAME_FORMS: Final = """
founded: established | found: discovered | based: headquartered | writer: author | writers: author | deadly: lethal
"""
"""Forms that share their stem with another word: `found` is not `founded`."""


def _stems(phrase: str) -> str:
    return " ".join(map(derivational_stem, phrase.split()))


SAME_WORDS: Final = {
    derivational_stem(word): derivational_stem(group.split()[0]) for group in _SAME.split("|") for word in group.split()
}
"""One key for forms and words that mean the same in any text, by their stems."""
SAME_FORMS: Final = {
    form.strip(): SAME_WORDS[derivational_stem(word.strip())]
    for pair in _SAME_FORMS.split("|")
    for form, word in [pair.split(":")]
}
SAME_PHRASES: Final = {
    _stems(phrase.strip()): name.strip(" |")
    for line in _SAME_PHRASES.strip().splitlines()
    for name, phrases in [line.split(":")]
    for phrase in phrases.split("|")
}
