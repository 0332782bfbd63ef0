/** The names of tokens, keys, codes and cards. Words of a name are written together. */
import { wordSet } from "../words.ts";

/** Words behind the name of a secret that still mean its value: `password_confirm`. */
export const VALUE_WORDS: ReadonlySet<string> = wordSet(
  "value values val plain plaintext plaintxt cleartext clear text txt raw string str new old",
  "current previous confirm confirmed confirmation again repeat retype verify hash hashed digest",
  "encrypted enc base64 b64 hex 1 2 3 data input live prod production test staging dev tmp",
  "temp initial default bytes pem sha1 sha256 md5 bcrypt nuevo nueva neu alt nouveau ancien nova",
  "novo nuova nuovo nowe nove nieuw nytt ny uusi yeni новый старый",
  "actual aktuell temporal temporaria temporaire provisorisch",
);

/** A key or token behind one of these words is no secret: `next_page_token`, `cache_key`. */
export const HARMLESS_TOKENS: ReadonlySet<string> = wordSet(
  "next prev previous page paging pagination continuation sync delta cursor resume idempotency",
  "change cancellation cancel fencing lock claim lease client request tracking trace checkpoint",
  "stream scroll offset batch version concurrency",
  "etag start skip after before reply list history",
  "position watermark snapshot design first last card payment dedup dedupe dedupl deduplication",
  "max min num count total stop chunk overlap prompt completion input output number public",
  "placeholder css color theme erc20 nft",
);

/** What a browser may know is no secret: `STRIPE_PUBLISHABLE_KEY`, `RECAPTCHA_SITE_KEY`. */
export const PUBLIC_WORDS: ReadonlySet<string> = wordSet("public publishable site sitekey pubkey");

export const SECRET_PHRASES: ReadonlySet<string> = wordSet(
  "secret clientsecret sharedsecret appsecret webhooksecret signingsecret apisecret jwtsecret",
  "hooksecret",
  "totpsecret secretvalue secretstring securestring oauthsecret consumersecret tokensecret",
  "secretaccesskey secretkeybase hmacsecret cookiesecret sessionsecret otpsecret mfasecret",
  "authsecret usersecret botsecret integrationsecret",
  "partnersecret geheimnis geheim clientgeheimnis",
  "secreto secretocliente segredo segredocliente",
  "segreto tajemnica секрет секретклиента hemlighet",
  "salaisuus hemmelighet シークレット 机密 秘密",
);

export const TOKEN_PHRASES: ReadonlySet<string> = wordSet(
  "token accesstoken refreshtoken idtoken authtoken sessiontoken bearertoken csrftoken xsrftoken",
  "apitoken jwt bearer oauthtoken sastoken personalaccesstoken resettoken verificationtoken",
  "activationtoken invitetoken magictoken securitytoken authenticationtoken csrf samlresponse",
  "samlassertion tok tkn accesstok accesstkn refreshtok refreshtkn authtok authtkn apitok bottok",
  "sesstoken oauthtok clientassertion codeverifier pkceverifier",
  "oauthverifier refreshtk accesstk magiclinktoken onetimetoken ott",
  "sessioncookie ssotoken ticketgrantingticket ltpatoken kerberosticket",
  "zugriffstoken zugangstoken jeton jetonacces jetonrafraichissement tokenacceso tokenacesso",
  "tokenaccesso tokendeacceso tokendacces tokendostepu токен токендоступа トークン",
  "アクセストークン 令牌 访问令牌 토큰 액세스토큰",
);

/** Keys that are secrets. A bare `key` is none. */
export const KEY_OWNERS: ReadonlySet<string> = wordSet(
  "api secret private access encryption decryption",
  "signing master auth shared hmac aes rsa gpg pgp",
  "license licence secretaccess wallet crypto cipher symmetric sharedaccess aes128 aes256 aes192",
  "des 3des chacha20 fernet nacl sodium ed25519 ecdsa ec unseal recovery preshared psk wpa wep",
  "wireguard wg bitlocker filevault luks apisecret privkey streaming xapi emergency",
);

/** A key of these is a secret or an id: only one that looks like key bytes is taken for one. */
export const OWNERS_OF_LONG_KEYS: ReadonlySet<string> = wordSet(
  "account service server webhook ssh client app application subscription admin storageaccount",
  "ingestion integration root deploy provisioning host device storage instrumentation rest",
  "customer content data wrapping wrapped wrap sse disk volume backup session cookie enc encrypt",
  "decrypt sign mac jwt jwe jws vault bot tenant network wifi stream vapid push field column",
  "record file envelope dek kek derived seed validator write search functions function",
  "activation payload message channel room drm hls",
);

export const KEY_PHRASES: ReadonlySet<string> = wordSet(
  "apikey secretkey privatekey encryptionkey signingkey masterkey authkey accesskey sharedkey",
  "mnemonic seedphrase recoveryphrase mnemonicphrase keymaterial privkey seedwords wif",
  "backupphrase walletphrase seedmnemonic recoveryword walletword",
  "mnemonicword seedword walletseed dek kek privatepem keypem",
  "hmackey aeskey secretaccess accesssecret pepper",
  "signingsalt privatejwk vapidprivate apischlussel",
  "apischluessel zugangsschlussel zugangsschluessel geheimschlussel geheimerschlussel",
  "privaterschlussel schlusselgeheim verschlusselungsschlussel",
  "verschluesselungsschluessel cleapi",
  "cledapi clesecrete cleprivee cledechiffrement clechiffrement cledacces claveapi clavesecreta",
  "claveprivada clavedecifrado clavecifrado clavedeapi chaveapi chavesecreta chaveprivada",
  "chavedeapi chavedeacesso chavedecriptografia chiaveapi chiavesegreta chiaveprivata",
  "chiavedicifratura sleutelapi apisleutel geheimesleutel",
  "kluczapi kluczprywatny kluczszyfrowania",
  "tajnyklic apiklic apinyckel krypteringsnyckel apinokkel apiavain salausavain apianahtari",
  "gizlianahtar apiключ ключapi секретныйключ закрытыйключ приватныйключ ключшифрования",
  "ключдоступа apiキー 秘密鍵 暗号鍵 暗号化キー",
  "シークレットキー 密钥 私钥 api密钥 访问密钥 비밀키 개인키 암호화키",
  "api키 secretschlussel",
);

/** Short names in which only a long random text is a secret. */
export const SHORT_NAMES: ReadonlySet<string> = wordSet(
  "sk rt ak devicecode pat tgt sso refresh assertion sess sessionid session apiauth",
);

export const CODE_PHRASES: ReadonlySet<string> = wordSet(
  "otp otpcode onetimecode verificationcode mfacode twofactorcode 2facode authcode",
  "authorizationcode recoverycode backupcode accesscode doorcode gatecode alarmcode smscode totp",
  "totpcode logincode confirmationpin activationcode resetcode pairingcode unlockcode magiccode",
  "overridecode entrycode entrancecode safecode vaultcode disarmcode dooraccesscode securecode",
  "lockcode keypadcode lockboxcode keyboxcode scratchcode emergencycode rescuecode signincode",
  "verifycode onetimepin mtan itan phototan pushtan smstan chiptan tan puk puk1 puk2 puknumber",
  "supervisorcode managercode mastercode duresscode panelcode stepupcode 2fabackup mfabackup",
  "factorcode pairingpin bluetoothpin bypasscode operatorcode oauthcode",
  "wiederherstellungscode wiederherstellungsschlussel",
  "sicherheitscode zugangscode bestatigungscode",
  "einmalcode freischaltcode turcode codigoverificacion codigodeverificacion codigorecuperacion",
  "codigoderecuperacion codigoacceso codigodeacceso codedeverification codeverification",
  "codedesecours codesdesecours codesecours codesecret codeacces codedacces codicediverifica",
  "codiceverifica codicedirecupero codigodeacesso verificatiecode toegangscode herstelcode",
  "kodweryfikacyjny koddostepu overovacikod engangskode engangskod kertakoodi dogrulamakodu",
  "кодподтверждения кодвосстановления кодподтвержденияsms",
  "одноразовыйкод 認証コード 確認コード 验证码 驗證碼",
  "恢复码 动态码 인증번호 인증코드 ワンタイムパスワード",
);

/** What an owner answers to prove who he is. Any text is a secret there. */
export const ANSWER_PHRASES: ReadonlySet<string> = wordSet(
  "securityanswer secretanswer recoveryanswer challengeanswer answertosecurityquestion",
  "securityquestionanswer kbaanswer mothersmaidenname mothermaidenname sicherheitsantwort",
  "geheimantwort respuestasecreta respuestaseguridad respuestadeseguridad reponsesecrete",
  "reponsesecurite reponsedesecurite rispostasegreta rispostadisicurezza respostasecreta",
  "respostadeseguranca antwoordbeveiligingsvraag контрольныйответ ответнаконтрольныйвопрос",
);

export const PIN_WORDS: ReadonlySet<string> = wordSet("pin pinno pinnumber geheimzahl pinkode");
/** Pins of maps and of addresses. */
export const OTHER_PINS: ReadonlySet<string> = wordSet(
  "map postal post zip address city area gpio board led chip location delivery shipping billing",
);
/** A PIN in some countries, and a postal code of six digits in India. */
export const PIN_OR_POSTAL: ReadonlySet<string> = wordSet("pincode");

export const CARD_PHRASES: ReadonlySet<string> = wordSet(
  "cardnumber creditcard creditcardnumber ccnumber ccnum pan cardno debitcard debitcardnumber",
  "primaryaccountnumber cardpan paymentcard paymentcardnumber cc bankcard cardnum ccno cardnr",
  "kreditkarte kreditkartennummer kreditkartennr kartennummer kartennr numerotarjeta",
  "numerodetarjeta tarjetacredito tarjeta numerocarte numerodecarte cartebancaire cartebleue",
  "numerodecartao numerocartao cartaocredito cartaodecredito numerocarta numerodicarta",
  "cartadicredito cartacredito kaartnummer creditcardnummer numerkarty cislokarty kortnummer",
  "kredittkort kortnr kartnumarasi luottokortti номеркарты карта カード番号",
  "クレジットカード番号 卡号 信用卡号 银行卡号 카드번호",
);

export const CVV_PHRASES: ReadonlySet<string> = wordSet(
  "cvv cvc cvv2 cvc2 csc cardsecuritycode securitycode cardcvv cardcvc cardcode cid cvn cav2",
  "kartenprufnummer prufnummer kartenprufziffer cryptogramme codigoseguridad codigodeseguridad",
  "codigodeseguranca codicesicurezza codicedisicurezza",
);

/** Cards that are not for payments. */
export const OTHER_CARDS: ReadonlySet<string> = wordSet(
  "loyalty gift library member membership id identity health sim store score report business key",
);

export const HEADER_PHRASES: ReadonlySet<string> = wordSet(
  "authorization proxyauthorization auth cookie setcookie authheader authorizationheader",
  "xapikey xauthtoken cookies cookieheader sessid phpsessid jsessionid basicauth httpauth",
  "xvaulttoken connectsid aspnetsessionid laravelsession wordpressloggedin rememberme",
  "rememberusertoken remembertoken aspnetcorecookies aspnetcoreidentityapplication aspxauth",
  "cisession railssession ghsess usersession moodlesession kratossession oryksession fedauth",
  "estsauth estsauthpersistent rtfa liat cfclearance grafanasession sessioncookievalue",
  "keycloakidentity sessionjwt djangosession flasksession expresssess koasess racksession",
);
