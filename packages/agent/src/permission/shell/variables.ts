/** Names of variables, and what setting them can change. */

/** Variables by which a program is told what else to run, where to find it, or what to read before anything else. */
const steering: readonly RegExp[] = [
  /^(PATH|IFS|ENV|SHELL|SHELLOPTS|BASHOPTS|BASH_\w*|PS\d|PROMPT_COMMAND|CDPATH|GLOBIGNORE|HOME|TMPDIR|OLDPWD|PWD)$/,
  /^(LD|DYLD|GIT|SSH|NODE|NPM|PNPM|YARN|BUN|DENO|PYTHON|PERL|PERL5|RUBY|GEM|BUNDLE|JAVA|JDK|_JAVA|LUA|GO|CARGO|RUST)/,
  /^(RUSTC|MAKE|TAR|LESS|MAN|RSYNC|DOCKER|CONTAINER|KUBE|XDG|GREP|AWK|VIM|EX|TERM|LC_|LANG|NLS|LOC|GCONV|MALLOC|GLIBC)/,
  /^(CC|CXX|CPP|LD|AR|AS|FC|CLASSPATH|VISUAL|BROWSER|TEST_SHELL|CONFIG_SHELL|PREFIX|DESTDIR|ZDOTDIR|POSIXLY_CORRECT)$/,
  /(PAGER|EDITOR|ASKPASS|FLAGS|OPTS|OPTIONS|SHELL|COMMAND|WRAPPER|_PROXY|PRELOAD|RC)$/,
  /^(npm|pnpm|yarn|bun)_|_proxy$/,
];

/** Whether setting it may change what is run: no pattern over the command covers that. */
export const steersPrograms = (name: string): boolean => steering.some((pattern) => pattern.test(name));

/** A shell's own variable, by its form: nothing that is handed on to programs is called so. */
export const isLocalName = (name: string): boolean => /^[a-z][a-z0-9_]*$/.test(name) && !steersPrograms(name);
