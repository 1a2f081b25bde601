import type { Maker } from './more-shapes.js';

/** Secrets that a header, a statement, a file or a command names from afar: tables, rows of databases, files of accounts, standard input. */
export function addTables(maker: Maker): void {
  tables(maker);
  statements(maker);
  accounts(maker);
  inputs(maker);
  settings(maker);
}

/** A value with a digit in it, as almost every random one has. */
const mixed = (random: Maker['random']): string => `${random(10)}7${random(9)}`;

function tables({ add, random }: Maker): void {
  const put = (name: string, around: (secret: string) => string): void => add(`table: ${name}`, mixed(random), around);
  put('CSV', (s) => `username,password\nada,${s}\n`);
  put('CSV with quotes', (s) => `"id","Password","note"\n"1","${s}","a, b"\n`);
  put('CSV, second row, CRLF', (s) => `email,role,password\r\na@x.example,admin,\r\nb@x.example,user,${s}\r\n`);
  put('CSV with semicolons', (s) => `Benutzer;Passwort\nada;${s}\n`);
  put('CSV in a here-document', (s) => `cat > users.csv <<EOF\nlogin,api_key\nada,${s}\nEOF`);
  put('CSV in a string', (s) => `const csv = "user,password\\nada,${s}\\n";`);
  put('CSV in a template', (s) => `const csv = \`user,password\nada,${s}\`;`);
  put('CSV of a browser', (s) => `name,url,username,password,note\nx.example,https://x.example/,ada,${s},\n`);
  put('CSV in a numbered listing', (s) => `     1\tpassword,user\n     2\t${s},ada\n`);
  put('CSV in a difference', (s) => `@@ -0,0 +1,2 @@\n+user,password\n+ada,${s}\n`);
  put('tabs', (s) => `user\tclient_secret\tscope\nada\t${s}\tall\n`);
  put('Markdown', (s) => `| user | password |\n| --- | --- |\n| ada | ${s} |`);
  put('Markdown, code and emphasis', (s) => `| Service | **API key** |\n|:--|--:|\n| mail | \`${s}\` |\n`);
  put('Markdown, no bars at the ends', (s) => `user | password\n--- | ---\nada | ${s}\n`);
  put('Markdown, third row', (s) => `| host | Secret key | note |\n|--|--|--|\n| a | - | x |\n| b | n/a | y |\n| c | ${s} | z |\n`);
  put('Markdown, quoted', (s) => `> | user | password |\n> | --- | --- |\n> | ada | ${s} |\n`);
  put('Markdown, names in the first column', (s) => `| Setting | Value |\n|---|---|\n| Port | 5432 |\n| DB_PASSWORD | \`${s}\` |\n`);
  put('Markdown, Chinese', (s) => `| 用户 | 密码 |\n| --- | --- |\n| ada | ${s} |`);
  put('psql', (s) => ` id | name | password \n----+------+----------\n  1 | ada  | ${s}\n(1 row)\n`);
  put('psql, expanded', (s) => `-[ RECORD 1 ]---\nname     | ada\npassword | ${s}\n`);
  put('mysql', (s) => `+----+------+\n| id | auth_token |\n+----+------+\n|  1 | ${s} |\n+----+------+\n`);
  put('mysql, vertical', (s) => `*** 1. row ***\n    name: ada\npassword: ${s}\n`);
  put('lines of boxes', (s) => `┌──────┬──────────┐\n│ user │ password │\n├──────┼──────────┤\n│ ada  │ ${s} │\n└──────┴──────────┘`);
  put('columns of spaces', (s) => `NAME    ROLE   PASSWORD\nada     admin  ${s}\n`);
  put('LaTeX', (s) => `user & password \\\\ \\hline\nada & ${s} \\\\\n`);
  put('HTML', (s) => `<table><tr><th>user</th><th>password</th></tr>\n<tr><td>ada</td><td><code>${s}</code></td></tr></table>`);
  put('HTML, names in the first column', (s) => `<tr><td>API key</td><td>${s}</td></tr>`);
  put('JSON, columns and rows', (s) => `{"columns":["name","password"],"rows":[["ada","${s}"]]}`);
  put('JSON, lists', (s) => `[["id", "name", "api_key"],\n [1, "ada", null], [2, "bob", "${s}"]]`);
  add('table: CSV, word', 'swordfish', (s) => `username,password\nada,${s}\n`);
  add('table: Markdown, word', 'swordfish', (s) => `| login | password |\n|--|--|\n| ada | ${s} |\n`);
}

function statements({ add, random }: Maker): void {
  const put = (name: string, around: (secret: string) => string): void => {
    add(`statement: ${name}`, mixed(random), around);
    if (!/token|auth/.test(name)) add(`statement: ${name}, letters`, random(12, 'abcdefghijklmnopqrstuvwxyz'), around);
  };
  put('INSERT', (s) => `INSERT INTO users (name, password) VALUES ('ada', '${s}')`);
  put('INSERT, many rows', (s) => `INSERT INTO public."users" ("id", "password", "email") VALUES\n  (1, NULL, 'a@x'),\n  (2, '${s}', 'b@x');`);
  put('INSERT, lower case', (s) => `insert ignore into users(id,passwd,at) values(1,'${s}',now());`);
  put('INSERT, call', (s) => `INSERT INTO users (email, password) VALUES ('a@x', crypt('${s}', gen_salt('bf')));`);
  put('INSERT, in a shell', (s) => `mysql app -e "INSERT INTO users (name, \\\`password\\\`) VALUES ('ada', '${s}')"`);
  put('INSERT, quote in a value', (s) => `INSERT INTO users (name, password) VALUES ('O''Hara, (A)', '${s}')`);
  put('INSERT, given values', (s) => `cur.execute("INSERT INTO users (name, password) VALUES (?, ?)", ("ada", "${s}"))`);
  put('INSERT, given values of Go', (s) => `db.Exec(\`INSERT INTO users (name, password) VALUES ($1, $2)\`, "ada", "${s}")`);
  put('INSERT, brackets, token', (s) => `INSERT INTO [dbo].[keys] ([id], [api_token]) VALUES (1, N'${s}')`);
  const made = 'CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, password TEXT NOT NULL, PRIMARY KEY (id));\n';
  put('INSERT without names, a dump of SQLite', (s) => `PRAGMA foreign_keys=OFF;\n${made}INSERT INTO users VALUES(1,'a@b','${s}');\nCOMMIT;`);
  put(
    'INSERT without names, a dump of MySQL',
    (s) =>
      `CREATE TABLE \`users\` (\n  \`id\` int(11) NOT NULL,\n  -- who, where\n  \`name\` varchar(9) DEFAULT 'a),b' /* a, b */,\n  \`password\` varchar(255) COMMENT 'a, b',\n  PRIMARY KEY (\`id\`),\n  KEY \`n\` (\`name\`)\n) ENGINE=InnoDB;\n/*!40000 ALTER TABLE */\nINSERT INTO \`users\` VALUES (1,'ada',NULL),(2,'bob','${s}');`,
  );
  put('INSERT without names, schema', (s) => `create table if not exists app."u" (mail text, pwd text);\nreplace into u values ('a@b', '${s}')`);
  put('INSERT without names, in a shell', (s) => `sqlite3 a.db "CREATE TABLE u (id, password); INSERT OR IGNORE INTO u VALUES (1, '${s}')"`);
  put('INSERT without names, with breaks', (s) => JSON.stringify(`${made}INSERT INTO users\n VALUES\n (1,'a','${s}')`));
  put('UPDATE', (s) => `UPDATE users SET password = '${s}' WHERE id = 1`);
  put('UPDATE, lists', (s) => `UPDATE users SET (name, password) = ('ada', '${s}') WHERE id = 1`);
  put('UPDATE, call', (s) => `UPDATE mysql.user SET authentication_string = PASSWORD('${s}') WHERE User = 'root';`);
  put('COPY', (s) => `COPY public.users (id, name, password) FROM stdin;\n1\tada\t${s}\n\\.\n`);
  put('ALTER USER', (s) => `ALTER USER app WITH PASSWORD '${s}';`);
  put('ALTER ROLE', (s) => `alter role app with login encrypted password '${s}' valid until 'infinity'`);
  put('CREATE USER', (s) => `CREATE USER app PASSWORD '${s}' CREATEDB;`);
  put('CREATE USER of MySQL', (s) => `CREATE USER IF NOT EXISTS 'app'@'%' IDENTIFIED BY '${s}';`);
  put('CREATE USER with a method', (s) => `CREATE USER 'app'@'%' IDENTIFIED WITH caching_sha2_password BY '${s}';`);
  put('CREATE USER of MariaDB', (s) => `CREATE USER app IDENTIFIED VIA mysql_native_password USING PASSWORD('${s}');`);
  put('CREATE USER of Oracle', (s) => `CREATE USER app IDENTIFIED BY ${s} DEFAULT TABLESPACE users`);
  put('CREATE USER of Oracle, quoted', (s) => `ALTER USER app IDENTIFIED BY "${s}"`);
  put('CREATE USER in a here-document', (s) => `psql -U postgres <<SQL\nCREATE USER app WITH ENCRYPTED PASSWORD '${s}';\nSQL`);
  put('CREATE USER in a shell', (s) => `psql -c "ALTER USER postgres PASSWORD '${s}'"`);
  put('CREATE USER in a shell, double quotes', (s) => `mysql -e 'ALTER USER root IDENTIFIED BY "${s}"'`);
  put('CREATE LOGIN', (s) => `CREATE LOGIN app WITH PASSWORD = N'${s}', CHECK_POLICY = OFF`);
  put('SET PASSWORD', (s) => `SET PASSWORD FOR 'root'@'localhost' = PASSWORD('${s}');`);
  put('GRANT', (s) => `GRANT ALL ON *.* TO 'app'@'%' IDENTIFIED BY '${s}' WITH GRANT OPTION`);
  put('Redis', (s) => `redis> CONFIG SET requirepass ${s}\nOK`);
  put('Redis AUTH', (s) => `127.0.0.1:6379> AUTH ${s}\nOK`);
  put('MongoDB', (s) => `db.createUser({ user: "app", pwd: "${s}", roles: [] })`);
  put('MongoDB auth', (s) => `db.auth("app", "${s}")`);
  put('link of databases', (s) => `SELECT * FROM dblink('host=db user=app password=${s}', 'select 1')`);
}

function accounts({ add, random, base64 }: Maker): void {
  const put = (name: string, around: (secret: string) => string, make = (): string => mixed(random)): void => add(`file: ${name}`, make(), around);
  put('pgpass', (s) => `db.corp.example:5432:app:ada:${s}`);
  put('pgpass, any', (s) => `*:*:*:postgres:${s}\n`);
  put('pgpass, echo', (s) => `echo "localhost:5432:app:ada:${s}" > ~/.pgpass && chmod 600 ~/.pgpass`);
  put('netrc, lines', (s) => `machine git.corp.example\n  login ada\n  password ${s}\n`);
  put('netrc, wide indent', (s) => `machine git.corp.example\n        login ada\n        password ${s}\n`);
  put('netrc, no login', (s) => `machine git.corp.example password ${s}\n`);
  put('netrc, default', (s) => `default login ada password ${s}`);
  put('netrc, account', (s) => `machine h\n\tlogin ada\n\taccount x\n\tpassword ${s}\n`);
  put('netrc, printf', (s) => `printf 'machine h login ada password ${s}\\n' > ~/.netrc`);
  put('htpasswd, Apache', (s) => `ada:$apr1$${s.slice(0, 8)}$${s}ab`);
  put(
    'htpasswd, SHA',
    (s) => `ada:{SHA}${s}=`,
    () => random(27),
  );
  put(
    'LDAP, SSHA',
    (s) => `userPassword: {SSHA}${s}`,
    () => random(32),
  );
  put(
    'shadow, MD5',
    (s) => `root:$1$abcdefgh$${s}:19000:0:99999:7:::`,
    () => random(22),
  );
  put('npmrc', (s) => `registry=https://r.example/\n//r.example/:_authToken=${s}\nalways-auth=true\n`);
  put(
    'npmrc, password',
    (s) => `//r.example/:username=ada\n//r.example/:_password="${s}"\n`,
    () => base64(mixed(random)),
  );
  put('yarnrc', (s) => `npmRegistries:\n  "//r.example":\n    npmAuthToken: "${s}"\n`);
  put('pypirc', (s) => `[distutils]\nindex-servers = corp\n\n[corp]\nrepository = https://r.example\nusername = ada\npassword = ${s}\n`);
  put('pip.conf', (s) => `[global]\nextra-index-url = https://ada:${s}@r.example/simple\n`);
  put('poetry', (s) => `poetry config http-basic.corp ada ${s}`);
  put(
    'poetry, token',
    (s) => `poetry config pypi-token.pypi ${s}`,
    () => random(60),
  );
  put('cargo', (s) => `[registries.corp]\ntoken = "${s}"\n`);
  put('gem', (s) => `---\n:rubygems_api_key: ${s}\n`);
  put('bundler', (s) => `bundle config set --global r.example ada:${s}`);
  put('composer', (s) => `{"http-basic":{"r.example":{"username":"ada","password":"${s}"}}}`);
  put('maven', (s) => `<server>\n  <id>corp</id>\n  <username>ada</username>\n  <password>\n    ${s}\n  </password>\n</server>`);
  put('nuget', (s) => `<packageSourceCredentials><corp><add key="ClearTextPassword" value="${s}" /></corp></packageSourceCredentials>`);
  put('gradle', (s) => `signing.password=${s}\nmavenPassword=${s}\n`);
  put('gradle, Kotlin', (s) => `credentials {\n  username = "ada"\n  password = "${s}"\n}`);
  put(
    'Docker',
    (s) => `{\n\t"auths": {\n\t\t"r.example": {\n\t\t\t"auth": "${s}"\n\t\t}\n\t}\n}`,
    () => base64(`ada:${mixed(random)}`),
  );
  put('Docker, identity', (s) => `{"auths":{"r.example":{"identitytoken":"${s}"}}}`);
  put('kubeconfig, password', (s) => `users:\n- name: ada\n  user:\n    username: ada\n    password: ${s}\n`);
  put(
    'kubeconfig, key',
    (s) => `users:\n- name: ada\n  user:\n    client-key-data: ${s}\n`,
    () => base64(random(120)),
  );
  put('kubeconfig, command', (s) => `kubectl config set-credentials ada --token=${s}`);
  put('Terraform, tfvars', (s) => `region = "eu"\ndb_password = "${s}"\n`);
  put(
    'Terraform, description first',
    (s) => `variable "db_password" {\n  type = string\n  description = "of the { database }"\n  default = "${s}"\n}`,
  );
  put('Terraform, sensitive', (s) => `variable "admin_token" {\n  type      = string\n  sensitive = true\n  default   = "${s}"\n}`);
  put('names of people and places', (s) => `BACKEND_TOKEN=${s}\ndeveloper_token: ${s}\npubsubToken = "${s}"`);
  put('Terraform, -var', (s) => `terraform apply -var 'db_password=${s}'`);
  put('Ansible', (s) => `web1 ansible_host=10.0.0.1 ansible_user=ada ansible_ssh_pass=${s} ansible_become_password=x`);
  put('INI, spaces', (s) => `[smtp]\nhost = mail.example\nuser = ada\npassword     =    ${s}\n`);
  put('INI, colon', (s) => `[smtp]\npassword: ${s}\n`);
  put('properties, space', (s) => `app.user ada\napp.password ${s}\n`);
  put('properties, continued', (s) => `app.password = \\\n    ${s}\n`);
  put('XML attribute', (s) => `<dataSource url="jdbc:x" username="ada" password="${s}"/>`);
  put('XML attribute, single quotes', (s) => `<user name='ada' Password = '${s}' />`);
  put('web.config', (s) => `<add name="db" connectionString="Server=x;Uid=ada;Pwd=${s};" />`);
  put('Tomcat', (s) => `<user username="ada" password="${s}" roles="manager-gui"/>`);
  put('wpa_supplicant', (s) => `network={\n  ssid="x"\n  psk="${s}"\n}`);
  put('smb credentials', (s) => `username=ada\npassword=${s}\ndomain=CORP\n`);
  put('fstab', (s) => `//h/share /mnt cifs username=ada,password=${s},uid=1000 0 0`);
  put('rclone', (s) => `[remote]\ntype = sftp\nuser = ada\npass = ${s}\n`);
  put('rclone, s3', (s) => `[remote]\ntype = s3\naccess_key_id = AK\nsecret_access_key = ${s}\n`);
  put('msmtp', (s) => `account x\nhost mail.example\nuser ada\npassword ${s}\n`);
  put('mutt', (s) => `set imap_pass = "${s}"\nset smtp_pass="${s}"\n`);
  put('git credentials', (s) => `https://ada:${s}@git.corp.example\n`);
  put('svn', (s) => `svn co https://x --username ada --password ${s}`);
}

function inputs({ add, random }: Maker): void {
  const put = (name: string, around: (secret: string) => string): void => add(`input: ${name}`, mixed(random), around);
  put('env file in a here-document', (s) => `cat <<EOF > .env\nDB_HOST=x\nDB_PASSWORD=${s}\nEOF`);
  put('env file in a here-document with quotes', (s) => `cat > .env <<'EOF'\nDB_PASSWORD="${s}"\nEOF`);
  put('value in a here-document', (s) => `export DB_PASSWORD=$(cat <<EOF\n${s}\nEOF\n)`);
  put('value in a here-string', (s) => `read -r DB_PASSWORD <<< "${s}"`);
  put('echo in a substitution', (s) => `DB_PASSWORD=$(echo '${s}' | tr -d ' ')`);
  put('docker, echo', (s) => `echo "${s}" | docker login -u ada --password-stdin r.example`);
  put('docker, printf', (s) => `printf '%s' '${s}' | docker login -u ada --password-stdin r.example`);
  put('docker, here-string', (s) => `docker login -u ada --password-stdin r.example <<< "${s}"`);
  put('docker, here-document', (s) => `docker login -u ada --password-stdin <<EOF\n${s}\nEOF`);
  put('gh', (s) => `echo ${s} | gh auth login --with-token`);
  put('gh secret', (s) => `echo -n "${s}" | gh secret set DEPLOY`);
  put('passwd', (s) => `echo '${s}' | passwd --stdin ada`);
  put('passwd, twice', (s) => `echo -e "${s}\\n${s}" | passwd ada`);
  put('smbpasswd', (s) => `(echo ${s}; echo ${s}) | smbpasswd -s -a ada`);
  put('chpasswd, here-string', (s) => `chpasswd <<< "ada:${s}"`);
  put('chpasswd, here-document', (s) => `sudo chpasswd <<EOF\nada:${s}\nEOF`);
  put('chpasswd, printf', (s) => `printf 'ada:%s\\n' '${s}' | chpasswd`);
  put('useradd', (s) => `useradd -m -p $(openssl passwd -1 ${s}) ada`);
  put('mysql, here-document', (s) => `mysql -u root <<EOF\nSET PASSWORD FOR root@localhost = '${s}';\nEOF`);
  put('mysql, defaults', (s) => `mysql --defaults-extra-file=<(printf '[client]\\npassword=%s\\n' '${s}') app`);
  put('printf, name and mark', (s) => `printf 'DB_USER=%s\\nDB_PASSWORD=%s\\n' ada ${s} >> .env`);
  put('printf, escapes', (s) => `printf 'protocol=https\\nhost=x\\npassword=${s}\\n\\n' | git credential approve`);
  put('echo, escapes', (s) => `echo -e "[client]\\n\\tuser=ada\\n\\tpassword=${s}" > ~/.my.cnf`);
  put('vault, standard input', (s) => `echo -n '${s}' | vault kv put secret/x password=-`);
  put('kubectl, literal', (s) => `kubectl create secret generic x --from-literal=db='${s}'`);
  put('kubectl, literal of another name', (s) => `kubectl create secret generic x \\\n  --from-literal=pin=${s}`);
  put('openssl, standard input', (s) => `echo "${s}" | openssl enc -aes-256-cbc -pass stdin -in a`);
  put('openssl, short', (s) => `openssl enc -aes-256-cbc -k ${s} -in a -out b`);
  put('gpg', (s) => `gpg --batch --passphrase "${s}" -c a`);
  put('gpg, standard input', (s) => `echo ${s} | gpg --batch --passphrase-fd 0 -c a`);
  put('cryptsetup', (s) => `echo -n ${s} | cryptsetup luksFormat /dev/sdb -`);
  put('ssh, expect', (s) => `spawn ssh u@h\nexpect "password:"\nsend "${s}\\r"`);
  put('curl, netrc style', (s) => `curl --user 'ada:${s}' https://x`);
  put('curl, glued', (s) => `curl -uada:${s} https://x`);
  put('curl, user of a proxy', (s) => `curl -x http://ada:${s}@proxy:3128 https://x`);
  put('curl, data', (s) => `curl -d 'user=ada&password=${s}' https://x`);
  put('curl, JSON', (s) => `curl -d '{"user":"ada","password":"${s}"}' https://x`);
  put('curl, JSON with escapes', (s) => `curl -d "{\\"user\\":\\"ada\\",\\"password\\":\\"${s}\\"}" https://x`);
  put('httpie', (s) => `http POST x/login user=ada password=${s}`);
  put('wget', (s) => `wget --user=ada --password='${s}' https://x`);
  put('mysql, long', (s) => `mysqldump -u root --password="${s}" app`);
  put('mysql, glued quotes', (s) => `mysql -uroot -p'${s}' app`);
  put('psql, URL', (s) => `psql "postgresql://ada:${s}@h/x"`);
  put('psql, words', (s) => `psql "host=h user=ada password='${s}' dbname=x"`);
  put('rsync', (s) => `RSYNC_PASSWORD=${s} rsync a b`);
  put('ansible-vault', (s) => `ansible-playbook x.yml -e 'db_password=${s}'`);
  put('helm', (s) => `helm install x y --set-string auth.rootPassword=${s}`);
  put('docker build', (s) => `docker build --build-arg NPM_TOKEN=${s} .`);
  put('docker secret', (s) => `printf ${s} | docker secret create db_password -`);
  put('aws secret', (s) => `aws secretsmanager put-secret-value --secret-id x --secret-string '${s}'`);
  put('aws parameter', (s) => `aws ssm put-parameter --name /x --type SecureString --value '${s}'`);
  put('az secret', (s) => `az keyvault secret set --vault-name v --name n --value "${s}"`);
  put('az, service principal', (s) => `az login --service-principal -u id -p '${s}' --tenant t`);
  put('gcloud', (s) => `echo -n "${s}" | gcloud secrets create x --data-file=-`);
  put('heroku', (s) => `heroku config:set SECRET_KEY=${s} -a x`);
  put('flyctl', (s) => `fly secrets set DB=${s}`);
  put('wrangler', (s) => `echo ${s} | wrangler secret put DB`);
  put('vercel', (s) => `echo -n ${s} | vercel env add DB_PASSWORD production`);
  put('secret-tool', (s) => `echo ${s} | secret-tool store --label=x a b`);
  put('security', (s) => `security add-generic-password -a ada -s x -w '${s}'`);
  put('cmdkey', (s) => `cmdkey /add:h /user:ada /pass:${s}`);
  put('runas of Windows', (s) => `net use \\\\h\\share /user:ada ${s}`);
  put('PSCredential', (s) => `New-Object PSCredential('ada', (ConvertTo-SecureString '${s}' -AsPlainText -Force))`);
  put('restic', (s) => `RESTIC_PASSWORD=${s} restic backup`);
  put('pexpect', (s) => `child.expect('password:')\nchild.sendline('${s}')`);
  put('script with commands', (s) => `cd x\ncurl -u admin:${s} https://x\n`);
  put('script with commands, mysql', (s) => `set -e\nmysql -uroot -p${s} app\n`);
  put('ftp', (s) => `ftp -n h <<END\nuser ada ${s}\nput a\nEND`);
  put('ftp, quote', (s) => `ftp -n h <<END\nquote USER ada\nquote PASS ${s}\nEND`);
  put('lftp', (s) => `lftp -u ada,${s} h`);
  put('IMAP', (s) => `a1 LOGIN ada ${s}\na1 OK`);
  put('SMTP', (s) => `AUTH PLAIN ${Buffer.from(`\0ada\0${s}`).toString('base64')}`);
}

function settings({ add, random }: Maker): void {
  const put = (name: string, around: (secret: string) => string): void => add(`setting: ${name}`, mixed(random), around);
  put('ODBC', (s) => `Driver={ODBC Driver 18 for SQL Server};Server=x;Uid=ada;Pwd=${s};Encrypt=yes`);
  put('ODBC, braces', (s) => `Driver={PostgreSQL};Server=x;UID=ada;PWD={${s}};`);
  put('JDBC of SQL Server', (s) => `jdbc:sqlserver://h:1433;databaseName=x;user=ada;password=${s};`);
  put('JDBC, query', (s) => `jdbc:mysql://h/x?user=ada&password=${s}&useSSL=false`);
  put('JDBC, arguments', (s) => `DriverManager.getConnection("jdbc:h2:mem:x", "ada", "${s}")`);
  put('JDBC of Oracle', (s) => `jdbc:oracle:thin:ada/${s}@//h:1521/x`);
  put('PDO', (s) => `new PDO('mysql:host=h;dbname=x', 'ada', '${s}')`);
  put('mysqli', (s) => `mysqli_connect("h", "ada", "${s}", "x")`);
  put('psycopg', (s) => `psycopg2.connect("dbname=x user=ada password=${s} host=h")`);
  put('libpq service', (s) => `[app]\nhost=h\nuser=ada\npassword=${s}\n`);
  put('RabbitMQ', (s) => `rabbitmqctl add_user ada ${s}`);
  put('Kafka', (s) => `sasl.jaas.config=org.x.PlainLoginModule required username="ada" password="${s}";`);
  put('Kafka, key store', (s) => `ssl.keystore.password=${s}`);
  put('basic auth of Python', (s) => `requests.get(url, auth=("ada", "${s}"))`);
  put('basic auth of axios', (s) => `axios.get(url, { auth: { username: 'ada', password: '${s}' } })`);
  put('basic auth, encoded in code', (s) => `btoa("ada:${s}")`);
  put('SMTP of Python', (s) => `server.login("ada@x.example", "${s}")`);
  put('SMTP of nodemailer', (s) => `auth: { user: 'ada', pass: '${s}' }`);
  put('paramiko', (s) => `client.connect("h", username="ada", password="${s}")`);
  put('JSON in JSON in JSON', (s) => JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ password: s }) }) }));
  put('JSON, name and value', (s) => JSON.stringify([{ name: 'DB_PASSWORD', value: s }]));
  put('JSON, key and value in a string', (s) => JSON.stringify({ env: JSON.stringify([{ key: 'API_TOKEN', value: s }]) }));
  put('JSON, lines', (s) => `{\n  "db": {\n    "password":\n      "${s}"\n  }\n}`);
  put('JSON5', (s) => `{ password: '${s}', }`);
  put('XML in XML', (s) => `<data>&lt;password&gt;${s}&lt;/password&gt;</data>`);
  put('URL in a URL', (s) => `https://x/login?next=%2Fcb%3Fuser%3Dada%26password%3D${s}%26a%3Db`);
  put('JSON in HTML', (s) => `<div data-x="{&quot;user&quot;:&quot;ada&quot;,&quot;password&quot;:&quot;${s}&quot;}">`);
  put('XML, name in an element', (s) => `<entry><name>password</name><value>${s}</value></entry>`);
  put('XML, string of Android', (s) => `<string name="api_key">${s}</string>`);
  put('SOAP', (s) => `<wsse:Password Type="x#PasswordText">${s}</wsse:Password>`);
  put('registry of Windows', (s) => `"DefaultPassword"="${s}"`);
  put('registry of Windows, query', (s) => `    DefaultPassword    REG_SZ    ${s}\n`);
  put('YAML, list of maps', (s) => `users:\n  - {name: ada, password: ${s}}\n`);
  put('YAML, key with a space', (s) => `"db password": "${s}"`);
  put('PHP array', (s) => `'password' => env('DB_PASSWORD', '${s}'),`);
  put('Ruby', (s) => `config.secret_key_base = '${s}'`);
  put('Elixir', (s) => `config :app, App.Repo, password: "${s}"`);
  put('Lua', (s) => `local password = "${s}"`);
  put('PowerShell', (s) => `$Password = "${s}"`);
  put('batch', (s) => `set "DB_PASSWORD=${s}"`);
  put('fish', (s) => `set -gx DB_PASSWORD ${s}`);
  put('Dockerfile', (s) => `ENV DB_PASSWORD ${s}`);
  put('Makefile', (s) => `DB_PASSWORD ?= ${s}`);
  put('systemd', (s) => `Environment="DB_PASSWORD=${s}"`);
  put('GitHub Actions', (s) => `env:\n  DB_PASSWORD: ${s}\n`);
  put('nginx', (s) => `proxy_set_header Authorization "Bearer ${s}";`);
  put('HAProxy', (s) => `userlist u\n  user ada insecure-password ${s}\n`);
  put('squid', (s) => `cache_peer h parent 3128 0 login=ada:${s}`);
  put('Cisco', (s) => `username ada privilege 15 secret 0 ${s}`);
  put('sentence', (s) => `The admin password is ${s}.`);
  put('sentence, colon', (s) => `Your temporary password: ${s}`);
  put('sentence, credentials', (s) => `Credentials: ada / ${s}`);
  put('sentence, set to', (s) => `I set the password to ${s} for now.`);
  put('sentence, with', (s) => `Log in with user ada and password ${s}.`);
}

/** Texts with tables and statements that name secrets and hold none. */
export const tableOrdinary = ({ random, hex }: Pick<Maker, 'random' | 'hex'>): string[] => [
  '| token | count |\n| --- | --- |\n| the | 1234 |\n| password | 56 |\n',
  '| model | max_tokens |\n| --- | --- |\n| small | 4096 |\n',
  'max_tokens | 4096',
  '| max_tokens | 4096 |\n| token_count | 123456789 |',
  '| Field | Type | Default |\n| --- | --- | --- |\n| password | string | none |\n| apiKey | string | undefined |\n| token | varchar(255) | null |\n',
  '| Name | Required | Secret |\n|---|---|---|\n| DB_URL | yes | no |\n| PORT | no | false |\n',
  '| Secret | Where it is used |\n|---|---|\n| GITHUB_TOKEN | release.yml |\n| NPM_TOKEN | publish.yml |\n| db-credentials | deployment |\n',
  '| Token | Value |\n|---|---|\n| color-primary-500 | #3b82f6 |\n| spacing-2xl | 48px |\n| --font-size-base | 16px |\n',
  '| Method | Password | Token |\n|---|---|---|\n| login | required | optional |\n| refresh | - | required |\n',
  '| Feature | Password | Passkey |\n|---|---|---|\n| MFA | supported | supported |\n| Reset | by email | by support |\n',
  '| Test | Password | Result |\n|---|---|---|\n| empty | `""` | rejected |\n| missing | null | rejected |\n',
  '| Algorithm | Password hash | Key |\n|---|---|---|\n| argon2id | yes | 256 |\n',
  '| Kind | Token |\n|---|---|\n| identifier | IDENTIFIER |\n| string | STRING_LITERAL |\n| arrow | => |\n| end | EOF |\n',
  '| host | failed password |\n|---|---|\n| web1 | 123456 |\n',
  '| key | value |\n|---|---|\n| theme | dark2024 |\n| primary key | id |\n',
  '| Key | Action |\n|---|---|\n| Ctrl+K | Search |\n| F12 | Definition |\n',
  `| commit | author |\n|---|---|\n| ${hex(40)} | ada |\n`,
  `| id | name |\n|---|---|\n| ${random(22)} | ada |\n`,
  'NAME          TYPE     DATA   AGE\ndb-password   Opaque   1      3d\n',
  'TOKEN      COUNT\nhello2024  12\nworld      34\n',
  'username,password\n,\n$USER,$PASSWORD\n<user>,<password>\n',
  'token,count\nhello,12\nworld2,34\n',
  'step,token,logprob\n0,hello,-0.12\n1, world,-1.5e-3\n2,x1,-0.1\n',
  'const {\n  user, password,\n  host, port,\n} = config;',
  'function login(user, password) {\n  return fetch(url, options);\n}',
  'import { user, password, token } from "./auth";\nexport default login;',
  'INSERT INTO users (name, password) VALUES (?, ?)',
  'INSERT INTO users (name, password) VALUES ($1, $2) RETURNING id',
  'db.run("INSERT INTO users (name, password) VALUES (?, ?)", [name, passwordHash]);',
  'INSERT INTO users (name, password) VALUES (:name, :password)',
  'INSERT INTO users (name, password_hint) VALUES ("ada", "the usual one")',
  'INSERT INTO users (name, password) SELECT name, password FROM old_users',
  "INSERT INTO settings (name, value) VALUES ('theme', 'dark2024x')",
  'CREATE TABLE users (id INT, password VARCHAR(255) NOT NULL, token TEXT);',
  'ALTER USER app PASSWORD EXPIRE; ALTER TABLE users ADD COLUMN password text;',
  'UPDATE users SET password = ? WHERE id = ?',
  'UPDATE users SET password = crypt($1, gen_salt($2))',
  'GRANT SELECT (id, password) ON users TO app; -- for the login',
  'SELECT name, password FROM users WHERE token = $1',
  "const hash = await bcrypt.hash(password, 10);\nawait db.query('update users set password = $1', [hash]);",
  'src/login.ts:120:8:password:string',
  'a.ts:1234:const:token:value',
  `${hex(8)}:5432:x`,
  '2026-01-04T10:11:12: user ada: password accepted',
  'machine learning: login to the server, then password prompts appear',
  'machine git.example login ada password $PASSWORD',
  'printf "%s: %s\\n" "$name" "$password"',
  'printf "password: %s\\n" "$(pass show x)"',
  'read -s -p "Password: " PASSWORD && export PASSWORD',
  'echo "$TOKEN" | docker login -u ada --password-stdin r.example',
  'echo "password updated" | tee log.txt',
  'cat <<EOF > .env\nDB_HOST=localhost\nDB_PASSWORD=$DB_PASSWORD\nEOF',
  'password = getPassword()',
  'password = get_password(user)[0]',
  'token = next(tokens)',
  '["user", "password"], ["name", "email"]',
  '{"columns":["user","password"],"rows":[]}',
  '{"columns":["token","count"],"rows":[["hello",12],["world",34]]}',
  'auth=("user", "password")',
  'requests.get(url, auth=(user, password))',
  'connect("localhost", user, password)',
  'The password is stored as a hash. Set the password to something strong.',
  'Log in with your user and password first.',
  'Credentials: see the vault / ask an administrator',
  'AUTH PLAIN is supported; AUTH LOGIN too',
  'redis> AUTH\n(error) ERR wrong number of arguments',
  'user password prompts',
  'openssl enc -aes-256-cbc -k "$KEY" -in a',
  'curl -u "$USER" https://x',
  'lftp -u "$USER","$PASS" h',
  'snmpwalk -v2c -c public h',
  'kubectl create secret generic x --from-literal=password="$DB_PASSWORD"',
  'fly secrets set DB=$DB',
];
