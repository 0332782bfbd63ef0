/** Words of mails and documents, in the languages in which people write them. */

/** How a mail begins. */
export const GREETINGS: readonly string[] = [
  "dear|hi|hello|hey|greetings|to whom it may concern|good (?:morning|afternoon|evening|day)",
  "hallo|guten (?:tag|morgen|abend)|liebe[rs]?|sehr geehrte[rs]?|moin|servus|grüß gott|hoi",
  "bonjour|bonsoir|salut|cher|chère|chers|madame|monsieur|coucou",
  "hola|estimad[oa]s?|querid[oa]s?|buen[oa]s (?:días|tardes|noches)|buenos dias",
  "olá|ola|oi|prezad[oa]s?|car[oa]s?|bom dia|boa tarde|boa noite|caríssim[oa]|exm[oa]",
  "ciao|buongiorno|buonasera|gentile|gentilissim[oa]|egregi[oa]|salve|spett",
  "beste|geachte|goedemorgen|goedemiddag|goedenavond|dag",
  "hej|hejsan|kära|käre|kære|kjære|hei|god dag|god morgen|bästa",
  "cześć|czesc|dzień dobry|szanown[yaei]|drog[iaae]|witam|ahoj|dobrý den|vážen[ýáí]|milý|milá",
  "kedves|tisztelt|szia|dragă|bună ziua|stimat[ăe]",
  "pozdrav|poštovan[iae]|dragi|draga|spoštovan[ia]",
  "merhaba|sayın|sevgili|selam|γεια|αγαπητ[έή]|καλημέρα|hyvä|terve|moi|arvoisa",
  "здравствуйте|привет|уважаем(?:ый|ая|ые)|добрый (?:день|вечер)|дорог(?:ой|ая)|шановн(?:ий|а|і)",
  "доброго дня|добрий день|вітаю|お世話になって",
  "拝啓|こんにちは|尊敬的|您好|你好|안녕하세요|नमस्ते|प्रिय",
];

/** How a mail ends. */
export const CLOSINGS: readonly string[] = [
  "(?:with )?(?:my )?(?:very )?(?:kind(?:est)? |best |warm(?:est)? |many )?regards|warmly",
  "(?:with )?(?:warm|kind|all good) wishes|all the best|with love|cordially|faithfully",
  "sincerely|cheers|best wishes|best|many thanks|thank you",
  "thanks(?: a lot| again)?|yours(?: truly| faithfully)?|love|take care|talk soon|respectfully",
  "viele grüße|liebe grüße|beste grüße|schöne grüße",
  "herzliche grüße|mit freundlichen grüßen|vg|lg",
  "mfg|mit freundlichem gruß|gruß|danke|hochachtungsvoll",
  "cordialement|bien à vous|bien cordialement",
  "sincères salutations|merci|à bientôt|bises|amicalement",
  "saludos(?: cordiales)?|atentamente|un saludo|un abrazo|gracias|cordialmente|muchas gracias",
  "atenciosamente|cumprimentos|abraços?|obrigad[oa]|melhores cumprimentos|com os melhores",
  "cordiali saluti|distinti saluti|un caro saluto|saluti|grazie|a presto|in fede",
  "met vriendelijke groet(?:en)?|groet(?:en|jes)?|mvg|bedankt|hartelijke groet",
  "med vänliga hälsningar|vänliga hälsningar|hälsningar",
  "mvh|med venlig hilsen|venlig hilsen|hilsen",
  "med vennlig hilsen|vennlig hilsen|tack|takk|tak|ystävällisin terveisin|terveisin|kiitos",
  "pozdrawiam|z poważaniem|dziękuję|s pozdravem|děkuji|üdvözlettel|köszönöm|cu stimă|mulțumesc",
  "lep pozdrav|srdačan pozdrav|s poštovanjem|hvala|saygılarımla|teşekkürler|selamlar|με εκτίμηση",
  "с уважением|спасибо|всего доброго|з повагою",
  "дякую|敬具|よろしくお願い|此致|祝好|谢谢|감사합니다|धन्यवाद",
];

/** The line above a quoted mail. */
export const WROTE: readonly string[] = [
  "On .{5,200} wrote:|Am .{5,200} schrieb.{0,120}:|Le .{5,200} a écrit ?:|El .{5,200} escribió:",
  "Il .{5,200} ha scritto:|Em .{5,200} escreveu:",
  "Op .{5,200} schreef.{0,120}:|Den .{5,200} skrev.{0,120}:",
  "W dniu .{5,200} napisał.{0,4}:|Dne .{5,200} napsal.{0,4}:",
  ".{5,120} пишет:|.{5,120} написал.{0,2}:",
  ".{5,120} tarihinde .{0,120} yazdı:|.{2,120}写道[:：]",
  ".{2,120}(?:のメール|wrote)[:：]|.{5,120} kirjoitti:",
  "-{2,} ?(?:Original|Forwarded|Ursprüngliche|Weitergeleitete|Message|Mensaje|Messaggio|Mensagem)",
];

/** The first words of the headers that a program copies above a quoted or forwarded mail. */
export const COPIED_FROM: string =
  "From|Von|De|Da|Van|Från|Fra|Od|Lähettäjä|От|Від|Gönderen|Από|差出人|发件人";
export const COPIED_SUBJECT: string =
  "Subject|Betreff|Objet|Asunto|Oggetto|Assunto|Onderwerp|" +
  "Ämne|Emne|Temat|Předmět|Aihe|Тема|Konu|件名|主题";

/** A body under these names is the body of a mail. */
export const MAIL_NAMES: string =
  "emailbody mailbody bodyhtml bodytext htmlbody textbody bodyplain plainbody messagebody " +
  "textpart htmlpart " +
  "emailtext emailhtml mailtext emailcontent mailcontent rawemail rawmail rawmessage mime " +
  "rawmime rfc822 eml emailmessage bodypreview strippedtext strippedhtml emailbodyhtml " +
  "emailbodytext replybody bodycontent mailhtml replytext mailmessage emlcontent rawbody " +
  "messagehtml messagetext mailinhalt nachrichtentext " +
  "nachrichteninhalt corpsmessage corpsdumessage " +
  "corpsmail corpsemail cuerpomensaje cuerpocorreo cuerpodelmensaje cuerpodelcorreo corpoemail " +
  "corpomessaggio corpomail corpomensagem corpodoemail " +
  "tekstwiadomosci trescwiadomosci trescmaila " +
  "telozpravy mailtekst berichttekst meddelandetext " +
  "メール本文 邮件正文 邮件内容 текстписьма телописьма 메일본문";

/** Names that mails share with other things. */
export const BODY_NAMES: string =
  "body html text message content plain snippet preview texthtml textplain " +
  "nachricht inhalt corps cuerpo corpo mensaje " +
  "mensagem messaggio bericht tresc wiadomosc zprava meddelande besked melding viesti mesaj " +
  "сообщение текст 本文 正文 내용 msg reply answer";

/** Fields beside a mail body. */
export const MAIL_FIELDS: string =
  "to from cc bcc subject recipient recipients sender replyto messageid mailbox inreplyto " +
  "outeremail outermail outeremails outermails " +
  "outeremailmessage betreff absender empfanger objet " +
  "destinataire expediteur asunto destinatario " +
  "remitente oggetto mittente assunto onderwerp amne " +
  "emne temat тема 件名 主题 fromaddress toaddress mailfrom rcptto";

/** The content of a document under its own name. */
export const DOCUMENT_NAMES: string =
  "documentcontent documentcontents filecontent " +
  "filecontents documenttext extractedtext ocrtext " +
  "fulltext rawtext contents transcript documentbody documenthtml pagetext pdftext ocr " +
  "ocrresult pdfcontent attachmentcontent contenttext " +
  "parsedtext filetext documentdata filedata " +
  "docbody scannedtext contracttext articlebody plaintextcontent textcontent htmlcontent " +
  "markdowncontent markdown manuscript letter lettertext doctext doccontent ocroutput ocrraw " +
  "recognizedtext scantext transcription transcripttext minutes minutestext protokoll volltext " +
  "dokumentinhalt dokumenttext vertragstext inhaltstext " +
  "briefinhalt textecomplet contenudocument " +
  "textedocument textocompleto contenidodocumento textodocumento testodocumento testocompleto " +
  "conteudodocumento textodocontrato documenttekst " +
  "trescdokumentu 文档内容 全文 文書内容 текстдокумента";

/** Fields beside the content of a document. */
export const DOCUMENT_FIELDS: string =
  "documentid document filename fileid mimetype " +
  "contenttype pages pagecount pagenumber page file " +
  "outerdocument outerdocuments outerfile outerattachment outerattachments outerpages doctype " +
  "documenttype outercontract outerletter documenttitle " +
  "dokument dokumentid outerdokument fichier";

/** Names of contents, of documents and of other things. */
export const CONTENT_NAMES: string =
  "content text html markdown data body document csv xml file page pages blob raw inhalt texto " +
  "contenu contenido testo tekst plain value source sections";

/** What only contracts, letters, minutes and invoices say. */
export const DOCUMENT_MARKS: readonly string[] = [
  "(?:^|\\n)\\s{0,8}(?:§ ?\\d|(?:article|artikel|section|clause) \\d|\\d{1,2}\\.\\d? [A-ZÄÖÜ])",
  "\\bhereby\\b|\\bhereinafter\\b|\\bwhereas\\b|\\bthe undersigned\\b|\\bin witness whereof\\b",
  "\\bpage \\d{1,3} of \\d{1,3}\\b|\\bseite \\d{1,3} von \\d{1,3}\\b|\\f",
  "\\b(?:confidential|vertraulich|confidentiel|confidencial)\\b",
  "\\b(?:minutes of|attendees:|present:|agenda:|protokoll der|anwesend:|compte rendu|acta de)",
  "\\b(?:diagnos[ie]s:|befund:|patient:|invoice (?:no|number)|rechnung nr|vertragspartei\\w*)",
];
