export const usage = `Usage:
  varve [--host HOST] [--port PORT] [--home DIR] [--allow-host NAME]... [--trust-proxy ADDRESS]...
        [--public-url URL] [--import-db FILE] [--no-open]
                                    start the server and print a sign-in link
  varve link [--home DIR]           print a new sign-in link of the running server
  varve token add NAME [--days N] | list | remove ID
                                    named tokens for programs: make one (its secret is printed once), list them, take one back
  varve send TAB|--new TEXT [--wait] [--cwd DIR] [--model MODEL] [--permissions read|ask|edits|allow]
                                    send a message; TEXT "-" is read from standard input
  varve tail TAB [--from SEQ]       print the rows of a tab as JSON lines, and those that follow
  varve ledger FILE [--json]        print what a recording of pi or Claude Code cost, and what was paid twice
  varve --help | --version

Environment: VARVE_HOST, VARVE_PORT, VARVE_HOME (all state; ~/.varve), VARVE_TOKEN, VARVE_ALLOW_HOSTS,
VARVE_TRUST_PROXIES, VARVE_PUBLIC_URL, VARVE_KEYRING (auto, on, off), VARVE_LOG (debug, info, warn, error, silent).
Flags win over the environment.
`;
