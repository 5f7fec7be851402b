/** A question about a repository, and the files of which each answers it. */
export interface Question {
  ask: string
  files: string[]
}

/** A repository that questions are about: a source package of Debian, a package of npm, or this project. */
export interface Asked {
  /** The name of the source package, `npm:NAME@VERSION`, or null: this project. */
  source: string | null
  language: string
  questions: Question[]
}

export const asked = (
  source: string | null,
  language: string,
  questions: Array<[ask: string, ...files: string[]]>,
): Asked => ({
  source,
  language,
  questions: questions.map(([ask, ...files]) => ({ ask, files })),
})

/** Questions that the bench judges. The weights are not fitted on any of these repositories. */
export const JUDGED: Asked[] = [
  asked('golang-github-spf13-cobra', 'Go', [
    ['How is a similar command suggested when the user mistypes one?', 'command.go', 'cobra.go'],
    ['Which validators limit the number of positional arguments?', 'args.go'],
    ['How are flags marked as mutually exclusive?', 'flag_groups.go'],
    ['Where is the completion script for PowerShell generated?', 'powershell_completions.go'],
    ['How can a program print hints to the user while completing?', 'active_help.go'],
    ['Where are man pages written from a tree of commands?', 'doc/man_docs.go'],
    [
      'What happens on Windows when the program is started by a double click in the explorer?',
      'command_win.go',
      'cobra.go',
    ],
  ]),
  asked('jq', 'C', [
    ['How is backtracking done when the bytecode runs?', 'src/execute.c'],
    ['Where are arrays and objects reference counted?', 'src/jv.c'],
    ['How is JSON text parsed piece by piece?', 'src/jv_parse.c'],
    ['Where are the colors of the output set?', 'src/jv_print.c', 'src/main.c'],
    ['How are modules and imports searched for and loaded?', 'src/linker.c'],
    ['Where are functions such as strftime or regex matching provided?', 'src/builtin.c'],
    ['How are options like --slurp and --arg read from the command line?', 'src/main.c'],
    ['Where is invalid UTF-8 replaced?', 'src/jv_unicode.c', 'src/jv.c'],
  ]),
  asked('node-express', 'JavaScript', [
    ['How is a path matched against a route pattern and its parameters decoded?', 'lib/router/layer.js'],
    ['Where is a template rendered and its engine looked up?', 'lib/view.js', 'lib/application.js'],
    ['How are cookies set on the response?', 'lib/response.js'],
    ['How does trusting a proxy change the IP address of the client?', 'lib/request.js', 'lib/utils.js'],
    ['Where is error handling middleware with four arguments called?', 'lib/router/layer.js'],
    ['How is chosen between weak and strong etags?', 'lib/utils.js', 'lib/application.js'],
    ['How is the query string parsed?', 'lib/middleware/query.js', 'lib/utils.js'],
    ['Where is the content type negotiated by the Accept header?', 'lib/request.js', 'lib/response.js'],
  ]),
  asked('ruby-sidekiq', 'Ruby', [
    ['How long does a failed job wait before it is retried?', 'lib/sidekiq/job_retry.rb'],
    ['How are jobs taken from the queues by weight?', 'lib/sidekiq/fetch.rb'],
    ['How are the threads of a process stopped at shutdown?', 'lib/sidekiq/manager.rb', 'lib/sidekiq/launcher.rb'],
    ['Where are jobs that were planned for the future moved to their queue?', 'lib/sidekiq/scheduled.rb'],
    ['How is the heartbeat of a process written to Redis?', 'lib/sidekiq/launcher.rb'],
    ['Where is the size of the connection pool decided?', 'lib/sidekiq/redis_connection.rb'],
    ['How are many jobs pushed in bulk?', 'lib/sidekiq/client.rb'],
    ['How is middleware inserted before or after another one?', 'lib/sidekiq/middleware/chain.rb'],
  ]),
  asked('jinja2', 'Python', [
    ['How is the compiled bytecode of templates cached?', 'src/jinja2/bccache.py'],
    ['How is a template kept from calling unsafe methods?', 'src/jinja2/sandbox.py'],
    ['Where are templates found in the file system or in a package?', 'src/jinja2/loaders.py'],
    [
      'How are constant expressions folded when a template is compiled?',
      'src/jinja2/optimizer.py',
      'src/jinja2/nodes.py',
    ],
    ['How are tracebacks rewritten so that they show the line of the template?', 'src/jinja2/debug.py'],
    ['Where does access to an undefined variable become an error?', 'src/jinja2/runtime.py'],
    ['How is whitespace around blocks trimmed in the tokenizer?', 'src/jinja2/lexer.py'],
    ['How are messages for translation extracted from templates?', 'src/jinja2/ext.py'],
  ]),
  asked('rust-ripgrep', 'Rust', [
    ['How is the configuration file with default arguments read?', 'crates/core/config.rs'],
    ['How are compressed files or those of a preprocessor searched?', 'crates/core/search.rs', 'crates/core/args.rs'],
    ['Where is decided whether a path that was given explicitly is searched?', 'crates/core/subject.rs'],
    ['How is the exit code chosen after a search in parallel?', 'crates/core/main.rs'],
    ['Where are errors printed without stopping the search?', 'crates/core/messages.rs'],
    ['Where are the flags of the command line documented?', 'crates/core/app.rs'],
  ]),
  asked(null, 'TypeScript', [
    [
      'How is a held amount captured into the ledger?',
      'src/wallet/receipts/charges.ts',
      'src/wallet/budget/allowances.ts',
    ],
    ['Where are alerts signed and posted to a webhook?', 'src/alerts/webhook.ts'],
    ['How long does a transient error wait before it is retried?', 'src/inference/attempt/retry.ts'],
    ['How does the escrow get released to the payee?', 'src/escrow/release.ts', 'src/escrow/escrow.ts'],
    ['How are fixations of the eyes told from saccades?', 'src/gaze/fixations.ts'],
    [
      'Where is the price of an answer computed from its tokens?',
      'src/inference/status/price-list.ts',
      'src/wallet/receipts/pricing.ts',
      'src/inference/admit/bill.ts',
    ],
    ['How are the words of Chinese and Japanese texts split for search?', 'src/text/words.ts'],
    ['Which folders may a client name as a root?', 'src/context/allowed-root.ts'],
  ]),
]

/** Questions that the weights are fitted on, see `bench/fit-context.ts`. */
export const FITTED: Asked[] = [
  asked('golang-github-gorilla-mux', 'Go', [
    ['How are variables of a path template turned into a regular expression?', 'regexp.go'],
    ['How is a method that is not allowed answered?', 'mux.go', 'middleware.go', 'route.go'],
    ['Where are CORS headers set for the methods of a route?', 'middleware.go'],
    ['How is a URL built from the name of a route?', 'route.go', 'regexp.go'],
    ['How are subrouters walked?', 'mux.go'],
  ]),
  asked('puma', 'Ruby', [
    ['How are threads spawned and trimmed when there is less work?', 'lib/puma/thread_pool.rb'],
    ['Where are slow clients buffered until their request is complete?', 'lib/puma/reactor.rb', 'lib/puma/client.rb'],
    ['How are workers forked and restarted one by one?', 'lib/puma/cluster.rb'],
    ['How are sockets inherited from systemd or a former process bound?', 'lib/puma/binder.rb', 'lib/puma/launcher.rb'],
    ['Where are options of the configuration file declared?', 'lib/puma/dsl.rb'],
    ['How is the rack environment of a request filled?', 'lib/puma/request.rb'],
    [
      'How are certificates for TLS given to the context?',
      'lib/puma/minissl.rb',
      'lib/puma/minissl/context_builder.rb',
      'ext/puma_http11/mini_ssl.c',
    ],
    ['How is the state of the process kept in a file for pumactl?', 'lib/puma/state_file.rb'],
  ]),
  asked('rust-fd-find', 'Rust', [
    ['How are files filtered by their owner?', 'src/filter/owner.rs'],
    ['How is a duration like 2weeks compared with the time of modification?', 'src/filter/time.rs'],
    [
      'How is a command executed for each result, with placeholders?',
      'src/exec/mod.rs',
      'src/exec/command.rs',
      'src/exec/job.rs',
    ],
    ['Where are paths colorized when they are printed?', 'src/output.rs'],
    ['How do the threads that scan directories hand over their results?', 'src/walk.rs'],
    ['How is smart case decided from the pattern?', 'src/regex_helper.rs'],
  ]),
  asked('tmux', 'C', [
    ['How are key bindings looked up and dispatched?', 'key-bindings.c', 'server-client.c'],
    ['How is the status line drawn?', 'status.c', 'format-draw.c', 'screen-redraw.c'],
    ['Where are escape sequences from the terminal program parsed?', 'input.c'],
    ['How are the panes of a window resized?', 'layout.c', 'resize.c', 'cmd-resize-pane.c'],
    ['How is text copied from the scrollback into a buffer?', 'window-copy.c'],
    ['Where are options of a session inherited from global ones?', 'options.c'],
    ['How are the features of the outer terminal detected?', 'tty-features.c', 'tty-keys.c', 'tty-term.c'],
  ]),
]
