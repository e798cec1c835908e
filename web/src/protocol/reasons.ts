/** Why a request or a run failed, in the language of the user: made from the `code` and `params` of an error. */

import { number, size } from "../lib/format";
import { type Locale, locale, phrases } from "../lib/i18n";

type Params = Readonly<Record<string, string | number>>;

/** The part of an error that a sentence is made of. Events stored by older servers have no code. */
export interface Reason {
  message: string;
  code?: string;
  params?: Params;
}

/** A sentence in the language of the page; the server's own, in English, where the code is unknown or a param missing. */
export function reasonText({ message, code, params = {} }: Reason, language: Locale = locale.get()): string {
  const sentences: Readonly<Record<string, string>> = SENTENCES[language];
  const sentence = code !== undefined && Object.hasOwn(sentences, code) ? sentences[code] : undefined;
  return (sentence && filled(sentence, params, language)) ?? message;
}

/** The sentence with its params, or undefined if one is missing. `{max:size}` is a number of bytes. */
function filled(sentence: string, params: Params, language: Locale): string | undefined {
  const names = [...sentence.matchAll(PLACEHOLDER)].map(([, name = ""]) => name);
  if (!names.every((name) => Object.hasOwn(params, name))) return undefined;
  // A detail may be empty: it then leaves no brackets behind.
  const template = params.detail === "" ? sentence.replace(/ ?[(（]\{detail\}[)）]/, "") : sentence;
  return template.replace(PLACEHOLDER, (_, name: string, format: string | undefined) => {
    const value = params[name] ?? "";
    if (typeof value === "string") return value;
    return format === "size" ? size(value, language) : number(value, language);
  });
}

const PLACEHOLDER = /\{([a-z_]+)(?::(size))?\}/g;

/** One sentence for each code of docs/errors.md that a user of the page can meet. The compiler checks that all languages
 * have the same codes, and a test that they have the same params. */
export const SENTENCES = phrases({
  en: {
    // Models
    aborted: "The answer was stopped. What came before is saved.",
    budget_used_up: "The budget was used up before the answer. Ask again with more time or money.",
    model_connection_lost:
      "The connection to {provider} was lost in the middle of the answer. What came before is saved. ({detail})",
    model_context_overflow:
      "The conversation is too long for this model. Start a new one, or choose a model with a larger context window.",
    model_empty_response: "{provider} returned an empty answer.",
    model_key_refused: "{provider} rejected the API key.",
    model_no_stream: "{provider} didn’t stream its answer. Check its baseUrl. ({detail})",
    model_not_found: "{provider} doesn’t have this model, or its baseUrl is wrong. ({detail})",
    model_provider_failed: "{provider} is having problems. Try again later. ({detail})",
    model_rate_limited: "{provider} is limiting requests. Wait a moment, then try again.",
    model_redirected: "The address of {provider} redirects elsewhere. Its baseUrl is wrong.",
    model_refused: "{provider} declined to answer. Rephrase the question, or choose another model. ({detail})",
    model_request_rejected: "{provider} rejected the request. ({detail})",
    model_stream_truncated: "{provider} stopped before the answer was complete. What came before is saved.",
    model_unreachable: "Couldn’t reach {provider}. ({detail})",
    model_without_credit: "The account at {provider} is out of credit.",
    model_without_tools: "This model can’t use tools. Choose another one.",
    ollama_model_missing: "Ollama doesn’t have {model} yet. Download it: ollama pull {model}",
    ollama_stopped: "Ollama isn’t running. Start it: ollama serve ({detail})",

    // Uploads and archives
    archive_bomb: "{name} expands to more than {max} times its size, which isn’t safe to open.",
    archive_damaged: "{name} is damaged or isn’t safe to open.",
    archive_encrypted: "{name} in the archive is password-protected. Zip it without a password.",
    archive_link: "{name} in the archive is a link. Add the file itself.",
    archive_method: "{name} uses an unsupported compression method. Save it as a plain .zip.",
    archive_too_many_entries: "{name} contains more than {max} files. Make it smaller.",
    archive_too_many_files: "The archive contains {count} files; up to {max} can be unzipped. Split it.",
    archive_unpacks_too_large: "{name} would unzip to more than {max:size}. Make it smaller.",
    file_has_macros: "{name} contains macros, which aren’t accepted. Save it without them.",
    file_is_container:
      "{name} is a container that can hide programs, such as an Outlook message or an installer. Save its content as PDF or text.",
    file_is_program: "{name} is a program. Programs aren’t accepted, whatever their name.",
    file_is_trap: "{name} isn’t safe to open.",
    file_kind_differs: "{name} isn’t what its name says: its content is {actual}, not {expected}.",
    file_may_have_macros: "{name} may contain macros, which aren’t accepted. Save it as .{suffix}.",
    file_old_office: "{name} is in an old Office format that can hide macros. Save it as .{suffix}.",
    file_opens_as_program: "{name} would open as a program, such as a shortcut or a script, and isn’t accepted.",
    form_without_file: "No file was sent.",
    not_an_archive: "{name} isn’t a .zip file, so it can’t be unzipped.",
    too_many_files: "You can send up to {max} files at once.",
    too_many_files_waiting: "The server is busy processing files. Try again later.",
    too_many_own_files_waiting: "{count} of your files are still being processed. Wait for one to finish.",
    upload_too_large: "Too large: this server accepts files up to {max:size}.",

    // Files of a session
    citations_not_text: "{name} isn’t text, so it has no footnotes.",
    citations_too_large: "{name} is larger than {max:size}, too large to check its footnotes.",
    convert_not_text: "{name} isn’t text, so it can’t be converted. Download it instead.",
    convert_pdf_failed: "{name} can’t be exported as PDF. Try Word instead.",
    convert_too_large: "{name} is larger than {max:size}, too large to convert. Split it.",
    convert_unsupported: "{count} of {statements} statements of {name} are not supported by its sources.",
    diff_too_large: "{name} is too long to compare here. Download both versions.",
    download_expired: "This download link has expired. Request a new one.",
    file_changed: "{path} has changed in the meantime. Open the latest version and edit that.",
    file_contended: "{path} is being changed by others. Try again in a moment.",
    file_deleted: "The file was just deleted.",
    file_exists: "{path} already exists. Choose another name.",
    file_gone: "{path} no longer exists. Save it as a new file.",
    file_not_found: "This file doesn’t exist.",
    file_processing_failed: "{name} couldn’t be processed. It may be damaged.",
    file_processing_timeout: "{name} took too long to process. Split it into smaller files.",
    file_processing_too_large: "{name} is too large to process. Split it into smaller files.",
    file_too_large: "{path} would be {size:size}; files can be up to {max:size}.",
    frame_too_large: "{name} is larger than {max:size}. Download it instead.",
    not_a_table: "{name} isn’t a table. CSV, TSV, XLSX and ODS files are.",
    not_text: "{path} isn’t a text file.",
    packages_missing: "The server is missing packages for this (footnote[{extra}]).",
    server_stopping: "The server is restarting. Try again in a moment.",
    storage_limit:
      "Not enough storage: your files would take {size:size} of {max:size}. Delete files or conversations you no longer need.",
    table_too_large: "{name} is larger than {max:size}, too large to show. Download it.",
    table_too_long: "{name} is too long to show as a table. Download it.",
    text_pending: "{name} is still being read. Try again in a moment.",
    version_not_found: "{path} has no version {version}; the latest is {newest}.",

    // Sessions and runs
    agent_not_found: "This agent doesn’t exist.",
    approval_decided: "This was already decided.",
    approval_expired: "This request for permission has expired; the tool wasn’t run.",
    approval_not_found: "This request for permission no longer exists.",
    approval_run_ended: "The answer has ended, so no decision is needed.",
    budget_needs_price:
      "What {model} costs isn’t known, so a budget in dollars can’t be kept. Limit the time or the pages instead.",
    check_failed: "The check didn’t work: {reason}",
    check_needs_one: "Give a text or the address of a page, not both.",
    check_needs_web: "No agent of this server may read the web, so links can’t be checked.",
    check_too_long: "The text has {size} characters; up to {max} can be checked at once. Check it in parts.",
    check_url: "This page can’t be checked: {reason}.",
    message_not_found: "This message is no longer in the conversation.",
    question_empty: "The question is empty.",
    run_abandoned:
      "The server stopped repeatedly while working on this answer and gave up. Rephrase the question, or leave out the largest file.",
    run_active: "An answer is already running in this conversation.",
    run_failed: "Something went wrong inside Footnote. The server’s log has the details.",
    run_not_found: "This answer no longer exists.",
    server_busy: "The server is busy. Try again in a minute.",
    session_not_found: "This conversation no longer exists.",
    source_not_found: "This conversation has no source {number}.",
    title_empty: "The title is empty.",
    too_many_runs: "You have {active} answers running, the most this server allows. Wait for one, or stop it.",

    // Users and tokens
    admin_only: "Only admins of this server can do this.",
    last_admin: "{name} is the only admin. Make someone else an admin first.",
    local_user_stays: "The owner of this server can’t be removed.",
    local_user_stays_admin: "The owner of this server is always an admin.",
    login_link_expired: "This sign-in link was already used or has expired. Request a new one.",
    old_password_wrong: "The current password is wrong.",
    password_length: "Passwords have {min} to {max} characters.",
    token_name_length: "Token names have 1 to {max} characters.",
    token_not_found: "This token no longer exists.",
    too_many_logins: "Too many people are signing in right now. Try again soon.",
    too_many_logins_from_address: "Too many sign-in attempts from this address. Wait {seconds} seconds.",
    too_many_logins_with_name: "Too many sign-in attempts with this name. Wait {seconds} seconds.",
    too_many_tokens: "You can have up to {max} tokens. Revoke one you no longer need.",
    user_disabled: "{name} is disabled. Enable them first.",
    user_exists: "There is already a user {name}. Choose another name.",
    user_name_length: "User names have 1 to {max} visible characters.",
    user_not_found: "This user no longer exists.",
    wrong_password: "Wrong name or password.",

    // Requests
    body_too_large: "Too large: up to {max:size} can be sent at once.",
    internal_error: "Something went wrong inside Footnote. The server’s log has the details.",
    too_many_requests: "Too many requests. Wait {seconds} seconds.",
  },
  vi: {
    // Models
    aborted: "Câu trả lời đã bị dừng. Phần đã có vẫn được lưu.",
    budget_used_up: "Ngân sách đã hết trước khi có câu trả lời. Hãy hỏi lại với nhiều thời gian hoặc tiền hơn.",
    model_connection_lost: "Mất kết nối với {provider} khi đang trả lời. Phần đã có vẫn được lưu. ({detail})",
    model_context_overflow:
      "Cuộc trò chuyện quá dài đối với mô hình này. Hãy bắt đầu cuộc mới hoặc chọn mô hình có ngữ cảnh lớn hơn.",
    model_empty_response: "{provider} trả về câu trả lời trống.",
    model_key_refused: "{provider} từ chối khóa API.",
    model_no_stream: "{provider} không trả lời dạng luồng. Hãy kiểm tra baseUrl. ({detail})",
    model_not_found: "{provider} không có mô hình này, hoặc baseUrl sai. ({detail})",
    model_provider_failed: "{provider} đang gặp sự cố. Hãy thử lại sau. ({detail})",
    model_rate_limited: "{provider} đang giới hạn số yêu cầu. Hãy đợi một lát rồi thử lại.",
    model_redirected: "Địa chỉ của {provider} chuyển hướng sang nơi khác. baseUrl không đúng.",
    model_refused: "{provider} từ chối trả lời. Hãy hỏi theo cách khác hoặc chọn mô hình khác. ({detail})",
    model_request_rejected: "{provider} từ chối yêu cầu. ({detail})",
    model_stream_truncated: "{provider} dừng trước khi trả lời xong. Phần đã có vẫn được lưu.",
    model_unreachable: "Không kết nối được {provider}. ({detail})",
    model_without_credit: "Tài khoản tại {provider} đã hết tiền.",
    model_without_tools: "Mô hình này không dùng được công cụ. Hãy chọn mô hình khác.",
    ollama_model_missing: "Ollama chưa có {model}. Hãy tải về: ollama pull {model}",
    ollama_stopped: "Ollama chưa chạy. Hãy khởi động: ollama serve ({detail})",

    // Uploads and archives
    archive_bomb: "{name} giải nén ra lớn hơn {max} lần, không an toàn để mở.",
    archive_damaged: "{name} bị hỏng hoặc không an toàn để mở.",
    archive_encrypted: "{name} trong tệp nén có mật khẩu. Hãy nén lại không dùng mật khẩu.",
    archive_link: "{name} trong tệp nén là một liên kết. Hãy thêm chính tệp đó.",
    archive_method: "{name} dùng kiểu nén không được hỗ trợ. Hãy lưu thành .zip thông thường.",
    archive_too_many_entries: "{name} chứa hơn {max} tệp. Hãy thu nhỏ lại.",
    archive_too_many_files: "Tệp nén chứa {count} tệp; chỉ giải nén được tối đa {max}. Hãy chia nhỏ.",
    archive_unpacks_too_large: "{name} giải nén ra hơn {max:size}. Hãy thu nhỏ lại.",
    file_has_macros: "{name} chứa macro nên không được nhận. Hãy lưu lại không có macro.",
    file_is_container:
      "{name} là tệp chứa có thể giấu chương trình, như thư Outlook hoặc bộ cài. Hãy lưu nội dung thành PDF hoặc văn bản.",
    file_is_program: "{name} là một chương trình. Chương trình không được nhận, dù mang tên gì.",
    file_is_trap: "{name} không an toàn để mở.",
    file_kind_differs: "{name} không đúng với tên: nội dung là {actual}, không phải {expected}.",
    file_may_have_macros: "{name} có thể chứa macro nên không được nhận. Hãy lưu thành .{suffix}.",
    file_old_office: "{name} là định dạng Office cũ có thể giấu macro. Hãy lưu thành .{suffix}.",
    file_opens_as_program: "{name} mở ra như một chương trình (lối tắt hoặc tập lệnh) nên không được nhận.",
    form_without_file: "Chưa gửi tệp nào.",
    not_an_archive: "{name} không phải tệp .zip nên không giải nén được.",
    too_many_files: "Mỗi lần chỉ gửi được tối đa {max} tệp.",
    too_many_files_waiting: "Máy chủ đang bận xử lý tệp. Hãy thử lại sau.",
    too_many_own_files_waiting: "{count} tệp của bạn vẫn đang được xử lý. Hãy đợi một tệp xong.",
    upload_too_large: "Quá lớn: máy chủ này nhận tệp tối đa {max:size}.",

    // Files of a session
    citations_not_text: "{name} không phải văn bản nên không có chú thích.",
    citations_too_large: "{name} lớn hơn {max:size}, quá lớn để kiểm tra chú thích.",
    convert_not_text: "{name} không phải văn bản nên không chuyển đổi được. Hãy tải xuống.",
    convert_pdf_failed: "Không xuất được {name} ra PDF. Hãy thử Word.",
    convert_too_large: "{name} lớn hơn {max:size}, quá lớn để chuyển đổi. Hãy chia nhỏ.",
    convert_unsupported: "{count} trong {statements} nhận định của {name} không được nguồn xác nhận.",
    diff_too_large: "{name} quá dài để so sánh ở đây. Hãy tải cả hai phiên bản.",
    download_expired: "Liên kết tải xuống đã hết hạn. Hãy yêu cầu liên kết mới.",
    file_changed: "{path} đã thay đổi trong lúc đó. Hãy mở bản mới nhất rồi sửa.",
    file_contended: "{path} đang được người khác thay đổi. Hãy thử lại sau giây lát.",
    file_deleted: "Tệp vừa bị xóa.",
    file_exists: "{path} đã tồn tại. Hãy chọn tên khác.",
    file_gone: "{path} không còn nữa. Hãy lưu thành tệp mới.",
    file_not_found: "Không có tệp này.",
    file_processing_failed: "Không xử lý được {name}. Có thể tệp bị hỏng.",
    file_processing_timeout: "Xử lý {name} mất quá nhiều thời gian. Hãy chia thành tệp nhỏ hơn.",
    file_processing_too_large: "{name} quá lớn để xử lý. Hãy chia thành tệp nhỏ hơn.",
    file_too_large: "{path} sẽ có {size:size}; tệp tối đa {max:size}.",
    frame_too_large: "{name} lớn hơn {max:size}. Hãy tải xuống.",
    not_a_table: "{name} không phải bảng. Bảng là tệp CSV, TSV, XLSX hoặc ODS.",
    not_text: "{path} không phải tệp văn bản.",
    packages_missing: "Máy chủ thiếu gói cần cho việc này (footnote[{extra}]).",
    server_stopping: "Máy chủ đang khởi động lại. Hãy thử lại sau giây lát.",
    storage_limit:
      "Không đủ dung lượng: tệp của bạn sẽ chiếm {size:size} trên {max:size}. Hãy xóa tệp hoặc cuộc trò chuyện không cần nữa.",
    table_too_large: "{name} lớn hơn {max:size}, quá lớn để hiển thị. Hãy tải xuống.",
    table_too_long: "{name} quá dài để hiển thị dạng bảng. Hãy tải xuống.",
    text_pending: "{name} vẫn đang được đọc. Hãy thử lại sau giây lát.",
    version_not_found: "{path} không có phiên bản {version}; bản mới nhất là {newest}.",

    // Sessions and runs
    agent_not_found: "Không có tác tử này.",
    approval_decided: "Việc này đã được quyết định.",
    approval_expired: "Yêu cầu cho phép đã hết hạn; công cụ không được chạy.",
    approval_not_found: "Yêu cầu cho phép này không còn nữa.",
    approval_run_ended: "Câu trả lời đã kết thúc nên không cần quyết định nữa.",
    budget_needs_price:
      "Không biết giá của {model} nên không thể giữ ngân sách tính bằng đô la. Hãy giới hạn thời gian hoặc số trang.",
    check_failed: "Không kiểm tra được: {reason}",
    check_needs_one: "Hãy đưa một văn bản hoặc địa chỉ một trang, không phải cả hai.",
    check_needs_web: "Không tác nhân nào của máy chủ này được đọc web, nên không kiểm tra được liên kết.",
    check_too_long: "Văn bản có {size} ký tự; mỗi lần kiểm tra được tối đa {max}. Hãy kiểm tra từng phần.",
    check_url: "Không kiểm tra được trang này: {reason}.",
    message_not_found: "Tin nhắn này không còn trong cuộc trò chuyện.",
    question_empty: "Câu hỏi trống.",
    run_abandoned:
      "Máy chủ nhiều lần bị dừng khi trả lời nên đã bỏ cuộc. Hãy hỏi lại theo cách khác hoặc bỏ tệp lớn nhất.",
    run_active: "Cuộc trò chuyện này đang có câu trả lời chạy.",
    run_failed: "Footnote gặp lỗi bên trong. Nhật ký của máy chủ có chi tiết.",
    run_not_found: "Câu trả lời này không còn nữa.",
    server_busy: "Máy chủ đang bận. Hãy thử lại sau một phút.",
    session_not_found: "Cuộc trò chuyện này không còn nữa.",
    source_not_found: "Cuộc trò chuyện này không có nguồn {number}.",
    title_empty: "Tên đang trống.",
    too_many_runs: "Bạn có {active} câu trả lời đang chạy, mức tối đa của máy chủ này. Hãy đợi hoặc dừng một câu.",

    // Users and tokens
    admin_only: "Chỉ quản trị viên của máy chủ này làm được việc này.",
    last_admin: "{name} là quản trị viên duy nhất. Hãy đặt người khác làm quản trị viên trước.",
    local_user_stays: "Không xóa được chủ máy chủ này.",
    local_user_stays_admin: "Chủ máy chủ này luôn là quản trị viên.",
    login_link_expired: "Liên kết đăng nhập đã được dùng hoặc hết hạn. Hãy lấy liên kết mới.",
    old_password_wrong: "Mật khẩu hiện tại không đúng.",
    password_length: "Mật khẩu có từ {min} đến {max} ký tự.",
    token_name_length: "Tên token có từ 1 đến {max} ký tự.",
    token_not_found: "Token này không còn nữa.",
    too_many_logins: "Quá nhiều người đang đăng nhập. Hãy thử lại sau.",
    too_many_logins_from_address: "Quá nhiều lần đăng nhập từ địa chỉ này. Hãy đợi {seconds} giây.",
    too_many_logins_with_name: "Quá nhiều lần đăng nhập với tên này. Hãy đợi {seconds} giây.",
    too_many_tokens: "Bạn có tối đa {max} token. Hãy thu hồi token không cần nữa.",
    user_disabled: "{name} đang bị khóa. Hãy mở khóa trước.",
    user_exists: "Đã có người dùng {name}. Hãy chọn tên khác.",
    user_name_length: "Tên người dùng có từ 1 đến {max} ký tự nhìn thấy được.",
    user_not_found: "Người dùng này không còn nữa.",
    wrong_password: "Sai tên hoặc mật khẩu.",

    // Requests
    body_too_large: "Quá lớn: mỗi lần gửi tối đa {max:size}.",
    internal_error: "Footnote gặp lỗi bên trong. Nhật ký của máy chủ có chi tiết.",
    too_many_requests: "Quá nhiều yêu cầu. Hãy đợi {seconds} giây.",
  },
  zh: {
    // Models
    aborted: "回答已停止，之前的内容已保存。",
    budget_used_up: "预算在得到回答之前就用完了。请用更多的时间或费用再问一次。",
    model_connection_lost: "回答过程中与 {provider} 的连接中断，之前的内容已保存。（{detail}）",
    model_context_overflow: "对话对此模型来说太长。请新建对话，或选择上下文更大的模型。",
    model_empty_response: "{provider} 返回了空的回答。",
    model_key_refused: "{provider} 拒绝了 API 密钥。",
    model_no_stream: "{provider} 没有以流的方式回答，请检查 baseUrl。（{detail}）",
    model_not_found: "{provider} 没有此模型，或 baseUrl 有误。（{detail}）",
    model_provider_failed: "{provider} 出现故障，请稍后重试。（{detail}）",
    model_rate_limited: "{provider} 正在限制请求，请稍候再试。",
    model_redirected: "{provider} 的地址跳转到了别处，baseUrl 有误。",
    model_refused: "{provider} 拒绝回答。请换个问法，或选择其他模型。（{detail}）",
    model_request_rejected: "{provider} 拒绝了请求。（{detail}）",
    model_stream_truncated: "{provider} 在回答完成前中断，之前的内容已保存。",
    model_unreachable: "无法连接 {provider}。（{detail}）",
    model_without_credit: "{provider} 账户余额不足。",
    model_without_tools: "此模型不支持工具，请选择其他模型。",
    ollama_model_missing: "Ollama 还没有 {model}。请下载：ollama pull {model}",
    ollama_stopped: "Ollama 未运行。请启动：ollama serve（{detail}）",

    // Uploads and archives
    archive_bomb: "{name} 解压后超过原大小的 {max} 倍，打开不安全。",
    archive_damaged: "{name} 已损坏，或打开不安全。",
    archive_encrypted: "压缩包中的 {name} 有密码保护，请不加密码重新打包。",
    archive_link: "压缩包中的 {name} 是链接，请放入文件本身。",
    archive_method: "{name} 使用了不支持的压缩方式，请保存为普通 .zip。",
    archive_too_many_entries: "{name} 包含超过 {max} 个文件，请减少文件。",
    archive_too_many_files: "压缩包含 {count} 个文件，最多可解压 {max} 个，请拆分。",
    archive_unpacks_too_large: "{name} 解压后将超过 {max:size}，请缩小。",
    file_has_macros: "{name} 含有宏，不予接收。请去掉宏后保存。",
    file_is_container: "{name} 是可能隐藏程序的容器文件，例如 Outlook 邮件或安装包。请将内容保存为 PDF 或文本。",
    file_is_program: "{name} 是程序。无论叫什么名字，程序都不予接收。",
    file_is_trap: "打开 {name} 不安全。",
    file_kind_differs: "{name} 与其名称不符：内容是 {actual}，而不是 {expected}。",
    file_may_have_macros: "{name} 可能含有宏，不予接收。请另存为 .{suffix}。",
    file_old_office: "{name} 是可能隐藏宏的旧版 Office 格式，请另存为 .{suffix}。",
    file_opens_as_program: "{name} 会作为程序打开（如快捷方式或脚本），不予接收。",
    form_without_file: "没有发送文件。",
    not_an_archive: "{name} 不是 .zip 文件，无法解压。",
    too_many_files: "一次最多发送 {max} 个文件。",
    too_many_files_waiting: "服务器正忙于处理文件，请稍后重试。",
    too_many_own_files_waiting: "你有 {count} 个文件仍在处理，请等待其中一个完成。",
    upload_too_large: "文件太大：此服务器最大接收 {max:size}。",

    // Files of a session
    citations_not_text: "{name} 不是文本，没有脚注。",
    citations_too_large: "{name} 超过 {max:size}，太大而无法核对脚注。",
    convert_not_text: "{name} 不是文本，无法转换，请直接下载。",
    convert_pdf_failed: "{name} 无法导出为 PDF，请尝试 Word。",
    convert_too_large: "{name} 超过 {max:size}，太大而无法转换，请拆分。",
    convert_unsupported: "{name} 的 {statements} 条陈述中有 {count} 条没有来源支持。",
    diff_too_large: "{name} 太长，无法在此比较，请下载两个版本。",
    download_expired: "下载链接已过期，请重新获取。",
    file_changed: "{path} 在此期间已更改，请打开最新版本再编辑。",
    file_contended: "{path} 正被其他人修改，请稍后重试。",
    file_deleted: "文件刚刚被删除。",
    file_exists: "{path} 已存在，请换个名称。",
    file_gone: "{path} 已不存在，请另存为新文件。",
    file_not_found: "没有这个文件。",
    file_processing_failed: "无法处理 {name}，文件可能已损坏。",
    file_processing_timeout: "处理 {name} 超时，请拆分成较小的文件。",
    file_processing_too_large: "{name} 太大而无法处理，请拆分成较小的文件。",
    file_too_large: "{path} 将有 {size:size}，文件最大 {max:size}。",
    frame_too_large: "{name} 超过 {max:size}，请下载。",
    not_a_table: "{name} 不是表格。支持 CSV、TSV、XLSX 和 ODS。",
    not_text: "{path} 不是文本文件。",
    packages_missing: "服务器缺少所需的软件包（footnote[{extra}]）。",
    server_stopping: "服务器正在重启，请稍后重试。",
    storage_limit: "存储空间不足：你的文件将占用 {size:size}，上限为 {max:size}。请删除不再需要的文件或对话。",
    table_too_large: "{name} 超过 {max:size}，太大而无法显示，请下载。",
    table_too_long: "{name} 内容太多，无法以表格显示，请下载。",
    text_pending: "仍在读取 {name}，请稍后重试。",
    version_not_found: "{path} 没有第 {version} 版，最新为第 {newest} 版。",

    // Sessions and runs
    agent_not_found: "没有这个智能体。",
    approval_decided: "此请求已有决定。",
    approval_expired: "许可请求已过期，工具未运行。",
    approval_not_found: "该许可请求已不存在。",
    approval_run_ended: "回答已结束，无需再决定。",
    budget_needs_price: "不知道 {model} 的价格，因此无法遵守以美元计的预算。请改为限制时间或页数。",
    check_failed: "核查失败：{reason}",
    check_needs_one: "请提供一段文本或一个网页地址，不要两者都给。",
    check_needs_web: "此服务器上没有智能体可以读取网页，因此无法核查链接。",
    check_too_long: "文本有 {size} 个字符；一次最多核查 {max} 个。请分段核查。",
    check_url: "无法核查此网页：{reason}。",
    message_not_found: "此消息已不在对话中。",
    question_empty: "问题为空。",
    run_abandoned: "服务器在处理此回答时多次中断，已放弃。请换个问法，或去掉最大的文件。",
    run_active: "此对话已有回答正在进行。",
    run_failed: "Footnote 内部出错，详情见服务器日志。",
    run_not_found: "该回答已不存在。",
    server_busy: "服务器繁忙，请一分钟后重试。",
    session_not_found: "该对话已不存在。",
    source_not_found: "此对话没有来源 {number}。",
    title_empty: "标题为空。",
    too_many_runs: "你有 {active} 个回答正在进行，已达服务器上限。请等待或停止其中一个。",

    // Users and tokens
    admin_only: "只有本服务器的管理员可以执行此操作。",
    last_admin: "{name} 是唯一的管理员，请先将其他人设为管理员。",
    local_user_stays: "不能移除本服务器的所有者。",
    local_user_stays_admin: "本服务器的所有者始终是管理员。",
    login_link_expired: "登录链接已使用或已过期，请重新获取。",
    old_password_wrong: "当前密码不正确。",
    password_length: "密码长度为 {min} 到 {max} 个字符。",
    token_name_length: "令牌名称长度为 1 到 {max} 个字符。",
    token_not_found: "该令牌已不存在。",
    too_many_logins: "当前登录人数过多，请稍后重试。",
    too_many_logins_from_address: "此地址登录次数过多，请等待 {seconds} 秒。",
    too_many_logins_with_name: "此用户名登录次数过多，请等待 {seconds} 秒。",
    too_many_tokens: "最多可有 {max} 个令牌，请撤销不再需要的。",
    user_disabled: "{name} 已停用，请先启用。",
    user_exists: "用户 {name} 已存在，请换个名称。",
    user_name_length: "用户名长度为 1 到 {max} 个可见字符。",
    user_not_found: "该用户已不存在。",
    wrong_password: "用户名或密码错误。",

    // Requests
    body_too_large: "内容太大：一次最多发送 {max:size}。",
    internal_error: "Footnote 内部出错，详情见服务器日志。",
    too_many_requests: "请求过多，请等待 {seconds} 秒。",
  },
});
