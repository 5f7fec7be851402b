import { type Asked, asked } from './questions.ts'

/** Questions about repositories on which nothing was ever fitted, written before the search was asked any of them. */
export const HELD_OUT: Asked[] = [
  asked('fzf', 'Go', [
    ['How do the goroutines wait for each other and pass on signals?', 'src/util/eventbox.go'],
    ['Where is the score bonus for camel case and word boundaries computed?', 'src/algo/algo.go'],
    ['How are accented letters reduced to plain ones for matching?', 'src/algo/normalize.go'],
    ['Where are escape sequences for colours in the input parsed?', 'src/ansi.go'],
    ['How can another process send actions to a running finder over the network?', 'src/server.go'],
    ['Which system calls does it give up on OpenBSD?', 'src/protector/protector_openbsd.go'],
    ['How are earlier queries saved and browsed?', 'src/history.go'],
    ['How are the lists that worker threads sorted brought together into one?', 'src/merger.go'],
    ['Where are search operators such as ^ and ! and quotes interpreted?', 'src/pattern.go'],
    ['How is a line split into fields by a delimiter?', 'src/tokenizer.go'],
  ]),
  asked('jsoup', 'Java', [
    [
      'Where is untrusted HTML stripped of scripts and unwanted attributes?',
      'src/main/java/org/jsoup/safety/Cleaner.java',
      'src/main/java/org/jsoup/safety/Safelist.java',
    ],
    ['How is the character set of a page detected?', 'src/main/java/org/jsoup/helper/DataUtil.java'],
    ['How are CSS queries turned into evaluators?', 'src/main/java/org/jsoup/select/QueryParser.java'],
    [
      'Where are named character references such as &nbsp; escaped and unescaped?',
      'src/main/java/org/jsoup/nodes/Entities.java',
    ],
    [
      'How are cookies stored between requests?',
      'src/main/java/org/jsoup/helper/CookieUtil.java',
      'src/main/java/org/jsoup/helper/HttpConnection.java',
    ],
    [
      'Where is the line and column of an element recorded?',
      'src/main/java/org/jsoup/nodes/Range.java',
      'src/main/java/org/jsoup/parser/CharacterReader.java',
    ],
    ['How is a parsed document converted to the DOM of the JDK?', 'src/main/java/org/jsoup/helper/W3CDom.java'],
    [
      'How is the size of a downloaded body limited?',
      'src/main/java/org/jsoup/internal/ConstrainableInputStream.java',
      'src/main/java/org/jsoup/helper/HttpConnection.java',
      'src/main/java/org/jsoup/Connection.java',
    ],
    ['How are the inputs of a form collected for submission?', 'src/main/java/org/jsoup/nodes/FormElement.java'],
    ['Which tags are self closing or block level?', 'src/main/java/org/jsoup/parser/Tag.java'],
  ]),
  asked('npm:viem@2.54.6', 'TypeScript', [
    ['How is a nonce chosen when several transactions are sent at once?', 'utils/nonceManager.ts'],
    [
      'Where are several reads put together into one multicall?',
      'actions/public/multicall.ts',
      'actions/public/call.ts',
    ],
    ['How does it try another RPC endpoint when one fails?', 'clients/transports/fallback.ts'],
    ['How is a dropped web socket connection opened again?', 'utils/rpc/socket.ts', 'utils/rpc/webSocket.ts'],
    ['How are names of the name service normalized?', 'utils/ens/normalize.ts'],
    [
      'Where is decided after how long a failed request is repeated?',
      'utils/promise/withRetry.ts',
      'utils/buildRequest.ts',
    ],
    ['How are identical requests in flight merged?', 'utils/promise/withDedupe.ts'],
    [
      'Where is it checked that an address has the right checksum?',
      'utils/address/isAddress.ts',
      'utils/address/getAddress.ts',
    ],
    [
      'How are contract errors with a custom reason decoded?',
      'utils/abi/decodeErrorResult.ts',
      'utils/errors/getContractError.ts',
      'errors/contract.ts',
    ],
    [
      'How is it noticed that a pending transaction was replaced or sped up?',
      'actions/public/waitForTransactionReceipt.ts',
    ],
  ]),
  asked('npm:node-gyp@12.4.0', 'Python and JavaScript', [
    ['How is the Python interpreter found?', 'lib/find-python.js'],
    ['Where is the installed Visual Studio looked up?', 'lib/find-visualstudio.js', 'gyp/pylib/gyp/MSVSVersion.py'],
    ['Where are Makefiles written?', 'gyp/pylib/gyp/generator/make.py'],
    ['How are conditions in the build description evaluated and merged?', 'gyp/pylib/gyp/input.py'],
    ['How are downloaded headers checked against their hashes?', 'lib/install.js'],
    ['How are property lists copied into an application bundle on macOS?', 'gyp/pylib/gyp/mac_tool.py'],
    ['How is a circle of dependent targets found?', 'gyp/pylib/gyp/input.py'],
    ['How is XML text pretty printed for project files?', 'gyp/pylib/gyp/easy_xml.py'],
    [
      'How does it lock a file so that only one linker runs at a time?',
      'gyp/pylib/gyp/flock_tool.py',
      'gyp/pylib/gyp/win_tool.py',
    ],
    ['Where is the proxy for downloads chosen?', 'lib/download.js'],
  ]),
]
