/** The names of passwords, in the languages in which people name fields. */
import { wordSet } from "../words.ts";

/**
 * Words that mean a password. They are also found at the end of a compound, as in
 * `initialkennwort` or `数据库密码`, so each is too long or too special to end another word.
 */
export const PASSWORD_STEMS: ReadonlySet<string> = wordSet(
  // English, with the usual abbreviations and typing errors.
  "password passwd passwort passphrase passcode passphr passwrd passwrod pasword passord pswd",
  "psswd pssword pwd psw pword pswrd passw",
  // German, Dutch, Afrikaans.
  "kennwort losungswort zugangswort wachtwoord wagwoord geheimwort",
  // French, Spanish, Portuguese, Catalan, Italian, Romanian.
  "motdepasse motpasse motsdepasse contrasena contrasenia contrasenya palavrapasse",
  "senha paroladordine parolaacces parolasegreta clavedeacceso",
  "claveacceso claveusuario phrasesecrete phrasedepasse frasedepaso frasesecreta",
  // Nordic languages, Finnish, Baltic languages.
  "losenord adgangskode kodeord passord lykilord salasana tunnussana salalause parool",
  "slaptazodis slaptazodi",
  // Polish, Czech, Slovak, Hungarian, South Slavic languages, Albanian.
  "haslo heslo jelszo lozinka geslo zaporka fjalekalimi",
  // Turkish, Greek, Russian, Ukrainian, Bulgarian, Serbian.
  "sifre sifresi parolasi συνθηματικο κωδικοςπροσβασης пароль паролі пароля",
  "парола лозинка kodikosprosvasis synthimatiko parol parolya",
  // Japanese, Chinese, Korean, and their transliterations.
  "パスワード パスフレーズ パスコード 暗証番号 合言葉 密码 密碼 口令 密语 비밀번호 패스워드",
  "pasuwado pasuwaado anshobango bimilbeonho paseuwodeu",
  // Hindi and other languages of India, Thai, Vietnamese, Indonesian, Arabic, Persian, Hebrew.
  "पासवर्ड कूटशब्द गुप्तशब्द guptshabd kootshabd รหัสผ่าน matkhau mậtkhẩu katasandi",
  "كلمةالمرور كلمةالسر رمزالمرور گذرواژه رمزعبور סיסמה סיסמא",
  // Words that stand for a password between people.
  "magicword codeword safeword watchword secretword secretphrase",
);

/** Words that mean a password or something else, such as `parola`: the value must look like one. */
export const AMBIGUOUS_PASSWORDS: ReadonlySet<string> = wordSet(
  "parola parole sifra mima kouling sandi gupt losen clave κωδικος шифра гасло 암호 passkey",
  "kodikos wifikey wlankey networkkey contrasegna",
);

/** Abbreviations that end many other words: they count alone, or right after an owner. */
export const SHORT_PASSWORDS: ReadonlySet<string> = wordSet(
  "pass pw pwd psw pswd passwd passw mdp psk wpapsk",
);

/** Owners of a password: `db_pass`, `smtppw`. */
export const PASSWORD_OWNERS: ReadonlySet<string> = wordSet(
  "db database sql smtp imap pop3 pop mail email user usr ftp ftps sftp admin administrator root",
  "login logon mysql mariadb postgres postgresql pg pgsql redis mongo mongodb rabbitmq amqp mqtt",
  "ssh wifi wlan wpa proxy ldap bind http basic auth account acct service svc my sa app rtsp",
  "camera cam router vpn host remote become sudo",
  "master keystore truststore store key ssl tls cert",
  "pfx p12 jks zip archive pdf doc file oracle mssql",
  "sybase db2 hive kafka elastic es web api sys",
  "system domain ad nt windows win client server guest owner superuser su dba backup bot robot",
  "sap erp crm cms wp wordpress jira git svn registry",
  "docker nexus snmp bmc ipmi ilo idrac ansible",
  "machine device node tenant customer member staff",
  "portal shop pos terminal rdp vnc smb cifs nas",
);

/** Words behind a password that say whose it is: `contraseña_usuario`, `password_db`. */
export const OWNERS_BEHIND: ReadonlySet<string> = wordSet(
  "db database sql smtp imap user usr ftp sftp admin",
  "administrator root login mysql postgres redis",
  "mongo ldap proxy account wifi wlan vpn ssh web mail email",
  "usuario usuaria utilisateur utilisatrice utente",
  "benutzer nutzer gebruiker uzytkownika uzivatele",
  "kullanici korisnika brukers brugers anvandare",
  "kayttaja пользователя администратора админа базы",
  "бд почты сервера користувача correo courriel posta",
  "banco basedatos bd bdd administrador servidor",
  "serveur serwera serveru cuenta compte conta konta acceso acces accesso acesso dostepu доступа",
  "cliente client red reseau rede rete ingreso entrada connexion conexao conexion connessione",
  "logowania prijave de del da do la le el der des di du d of for fur para pour per van av для",
);

/** Passes and words that are no passwords. */
export const OTHER_PASSES: ReadonlySet<string> = wordSet(
  "boarding ski season day bus train rail travel press hall by com museum event game battle fail",
  "test first second multi single low high band two one render shader lift park parking visitor",
  "backstage fast city tourist monthly annual yearly weekly week month library class tres over",
  "under sur im tax health vaccine covid green gold",
  "silver free transit metro flight lounge entry",
  "concert festival exam quality yellow toll border summer winter sales hiking gym pool spa",
);
