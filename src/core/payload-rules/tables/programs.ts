/** Programs whose short flags or arguments take a password. */

/** The flags of each program. A flag with `+` has the password right behind it: `-pSECRET`. */
export const FLAGS_OF_PROGRAMS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [
    [
      "mysql mysqldump mysqladmin mysqlimport mysqlsh mysqlcheck mysqlslap mysqlbinlog mariadb",
      "-p+",
    ],
    ["mariadb-dump mariadb-admin mariadb-backup xtrabackup innobackupex mydumper", "-p+"],
    ["7z 7za 7zr 7zz rar unrar p7zip", "-p+ -hp+"],
    ["zip unzip zipcloak", "-P -P+"],
    ["sshpass", "-p -p+"],
    ["openssl", "-K -k"],
    ["docker podman nerdctl buildah skopeo helm oc crane az heroku cf ibmcloud", "-p"],
    ["mongo mongosh mongodump mongorestore mongoexport mongoimport", "-p -p+"],
    ["psexec psexec64 wmic winexe rdesktop crackmapexec netexec", "-p"],
    ["plink pscp psftp putty", "-pw"],
    ["sqlcmd bcp osql isql tsql freebcp impdp", "-P -P+"],
    ["redis-cli keydb-cli valkey-cli", "-a"],
    ["ldapsearch ldapmodify ldapadd ldapdelete ldappasswd ldapwhoami ldapcompare", "-w"],
    ["mosquitto_pub mosquitto_sub ipmitool", "-P"],
    ["xfreerdp wfreerdp xfreerdp3", "/p: -p"],
    ["cmdkey", "/pass: /p:"],
    ["schtasks", "/rp /p"],
    ["snmpwalk snmpget snmpset", "-A -X"],
    ["cadaver lftp ncftp ncftpput", "-p -u"],
    ["smbclient rpcclient", "-U"],
    ["clickhouse-client influx cqlsh vertica vsql nzsql", "-p -w -pw"],
  ].flatMap(([programs = "", flags = ""]) =>
    programs.split(" ").map((program) => [program, new Set(flags.split(" "))] as const),
  ),
);

/** Flags whose value is a user and a password. */
export const LOGIN_FLAGS: ReadonlySet<string> = new Set(
  "-u --user --proxy-user -U --userpwd --basic-auth --credentials --creds".split(" "),
);

/** Arguments by their place. `skip` words that are no flags stand before the password. */
export const PLACES_OF_PROGRAMS: readonly {
  readonly after: readonly string[];
  readonly skip: number;
  /** True: a value without a digit is a password as well. */
  readonly isSure: boolean;
}[] = [
  { after: ["net", "user"], skip: 1, isSure: false },
  { after: ["net", "use"], skip: 2, isSure: false },
  { after: ["rabbitmqctl", "add_user"], skip: 1, isSure: true },
  { after: ["rabbitmqctl", "change_password"], skip: 1, isSure: true },
  { after: ["htpasswd", "-b"], skip: 2, isSure: true },
  { after: ["htpasswd", "-bc"], skip: 2, isSure: true },
  { after: ["htpasswd", "-nb"], skip: 1, isSure: true },
  { after: ["htpasswd", "-bnbc"], skip: 1, isSure: true },
  { after: ["configure", "set", "aws_secret_access_key"], skip: 0, isSure: true },
  { after: ["user_pw"], skip: 0, isSure: true },
  { after: ["owner_pw"], skip: 0, isSure: true },
  { after: ["input_pw"], skip: 0, isSure: true },
];
