/** A fact, other words for it, and a question about it as somebody asks who does not know how it was written down. */
export interface PlainFact {
  key: string
  value: string
  also: string[]
  question: string
}

const fact = (key: string, value: string, also: string[], question: string): PlainFact => ({
  key,
  value,
  also,
  question,
})

/** Facts of some weeks in one team. Written before the ranking that they judge, which is not fitted on them. */
export const PLAIN_FACTS: readonly PlainFact[] = [
  fact(
    'deploy/production',
    'Production is deployed by tagging a commit on main with v*; the pipeline waits for two approvals.',
    ['release', 'go live', 'rollout', 'ship a version'],
    'How do we ship a new version to our customers?',
  ),
  fact(
    'deploy/rollback',
    'To undo a bad release, run make revert TAG=previous; database changes are never rolled back.',
    ['undo', 'go back', 'broken release'],
    'The release is broken, how do I go back to the one before?',
  ),
  fact(
    'db/migrations',
    'Schema changes live in db/changes as numbered SQL files and are applied by the boot script, never by hand.',
    ['alter table', 'new column', 'schema'],
    'Where do I add a new column to a table?',
  ),
  fact(
    'db/replica-lag',
    'Reports read from the replica, which may be up to 40 seconds behind; billing must read from the primary.',
    ['stale data', 'out of date', 'read replica'],
    'Why are the numbers in the reports out of date?',
  ),
  fact(
    'db/backups',
    'Nightly dumps go to the bucket ledger-backups and are kept for 35 days; restore takes two hours.',
    ['restore', 'retention', 'disaster recovery'],
    'For how long can we still restore yesterday’s data?',
  ),
  fact(
    'auth/session-length',
    'A login expires after 12 hours of inactivity, 30 days with "remember me".',
    ['logged out', 'cookie lifetime', 'sign in again'],
    'After what time are users logged out?',
  ),
  fact(
    'auth/provider',
    'Single sign-on goes through Keycloak on id.example.org, realm staff; GitHub login was removed in May.',
    ['SSO', 'identity provider', 'OpenID'],
    'Which identity provider do we use?',
  ),
  fact(
    'auth/service-accounts',
    'Machines authenticate with short-lived tokens from Vault, role ci-writer; static API keys are forbidden.',
    ['credentials', 'bot user', 'machine login'],
    'How does a build server get its credentials?',
  ),
  fact(
    'payments/provider',
    'We charge cards through Adyen since March; Stripe is only kept for refunds of old orders.',
    ['credit card', 'checkout', 'payment service'],
    'Who processes credit card payments?',
  ),
  fact(
    'payments/rounding',
    'Amounts are integers in cents; tax is rounded half-even per line, not on the total.',
    ['VAT', 'money', 'one cent off'],
    'Why is the invoice total off by one cent?',
  ),
  fact(
    'payments/retries',
    'Failed charges are repeated after 1, 3 and 7 days; after the third the subscription is paused.',
    ['dunning', 'declined card'],
    'What happens when a card is declined?',
  ),
  fact(
    'search/engine',
    'Product search runs on OpenSearch 2 with the index products-v4; synonyms are in config/synonyms.txt.',
    ['full text', 'elasticsearch', 'catalogue'],
    'Where are the synonyms for the catalogue search kept?',
  ),
  fact(
    'search/reindex',
    'A full reindex takes 50 minutes and must run at night, because it saturates the disk.',
    ['rebuild index', 'slow search'],
    'When may I rebuild the search index?',
  ),
  fact(
    'frontend/framework',
    'The shop is Svelte 5 with Vite; the back office is still Vue 2 and gets no new pages.',
    ['UI library', 'web client', 'admin'],
    'May I add a page to the back office?',
  ),
  fact(
    'frontend/icons',
    'Icons come from Lucide, 20 px, one stroke width; no emoji in buttons.',
    ['pictograms', 'design system'],
    'What size should an icon have?',
  ),
  fact(
    'frontend/browsers',
    'We support the last two versions of Chrome, Firefox, Safari and Edge; Safari 15 is dropped.',
    ['compatibility', 'old browser'],
    'Do we still need to work on old Safari?',
  ),
  fact(
    'api/versioning',
    'The public API is versioned by date in the header X-Api-Date; breaking changes need six months of notice.',
    ['deprecation', 'backwards compatible'],
    'How long before a breaking change must clients be told?',
  ),
  fact(
    'api/rate-limit',
    'Partners may send 600 requests a minute; above it they get 429 with Retry-After.',
    ['throttling', 'quota'],
    'How many calls can a partner make?',
  ),
  fact(
    'api/errors',
    'Errors follow RFC 9457 (application/problem+json); the field trace is safe to show to users.',
    ['problem details', 'error format'],
    'In which format do we return errors?',
  ),
  fact(
    'tests/flaky',
    'The end-to-end suite is unstable on ARM runners because of the clock; quarantine with the tag @shaky.',
    ['intermittent failure', 'random red build'],
    'A test fails at random, what do I do with it?',
  ),
  fact(
    'tests/fixtures',
    'Sample orders are generated by tools/seed.py with seed 42; never copy production rows.',
    ['test data', 'factories'],
    'Where does test data come from?',
  ),
  fact(
    'tests/coverage',
    'The gate is 80 % of changed lines, not of the whole repository.',
    ['threshold', 'untested code'],
    'How much of my change has to be tested?',
  ),
  fact(
    'ci/runners',
    'Pipelines run on four self-hosted machines in the Oslo rack; jobs above 30 minutes are killed.',
    ['build server', 'timeout', 'job limit'],
    'Why was my job killed after half an hour?',
  ),
  fact(
    'ci/cache',
    'The npm cache is keyed by the lock file; clear it with the label reset-cache on a merge request.',
    ['stale dependencies', 'slow build'],
    'How can I clear the cache of the pipeline?',
  ),
  fact(
    'style/naming',
    'Database columns are snake_case, JSON fields camelCase, environment variables start with LEDGER_.',
    ['conventions', 'case'],
    'How should environment variables be named?',
  ),
  fact(
    'style/commits',
    'Commit subjects are imperative, at most 60 characters, with the ticket at the end in brackets.',
    ['git message', 'conventional commits'],
    'What should a commit message look like?',
  ),
  fact(
    'style/language',
    'Code comments are in English; customer texts are translated in Crowdin, never in the source.',
    ['i18n', 'localization', 'wording'],
    'Where do translations of customer texts happen?',
  ),
  fact(
    'ops/alerts',
    'Alerts go to the channel #nightwatch; only severity 1 wakes the person on call.',
    ['pager', 'notification', 'incident'],
    'Who is woken when something breaks at night?',
  ),
  fact(
    'ops/logs',
    'Logs are in Loki for 14 days; query by label app and never log email addresses.',
    ['log retention', 'grafana', 'personal data'],
    'How far back can I look into the logs?',
  ),
  fact(
    'ops/regions',
    'Customer data of the EU stays in Frankfurt; the Ohio cluster serves images only.',
    ['data residency', 'GDPR', 'location'],
    'In what place is European customer data stored?',
  ),
  fact(
    'ops/secrets',
    'Passwords of services are in Vault under kv/ledger; developers read them with vault-login, never from chat.',
    ['where are the passwords', 'credentials'],
    'I need the password of a service, where can I look?',
  ),
  fact(
    'queue/broker',
    'Events go through NATS JetStream; RabbitMQ was switched off in 2025.',
    ['message bus', 'pub sub', 'kafka'],
    'What message broker do we have?',
  ),
  fact(
    'queue/poison',
    'A message that fails five times moves to the stream dead-letters, which Ines checks on Mondays.',
    ['DLQ', 'failed message'],
    'What becomes of messages that keep failing?',
  ),
  fact(
    'email/sender',
    'Transactional mail is sent by Postmark from noreply@ledger.example; marketing uses another domain.',
    ['SMTP', 'newsletter', 'mails'],
    'Through which service do we send mails?',
  ),
  fact(
    'mobile/minimum',
    'The app needs iOS 16 or Android 10; older phones see a page that asks to update.',
    ['operating system', 'supported phones'],
    'What is the oldest Android that works with the app?',
  ),
  fact(
    'mobile/push',
    'Push notifications use Firebase with one topic for each shop; quiet hours are 22 to 7.',
    ['FCM', 'do not disturb'],
    'At what hours do we not send notifications to phones?',
  ),
  fact(
    'team/standup',
    'The team meets daily at 9:40 in room Fjord; Thursdays are free of meetings.',
    ['daily', 'meeting time'],
    'On which day do we have no meetings?',
  ),
  fact(
    'team/ownership',
    'Kofi owns checkout, Mei owns search, Ines owns everything with queues.',
    ['responsible', 'who to ask', 'maintainer'],
    'Whom do I ask about the checkout?',
  ),
  fact(
    'perf/budget',
    'The landing page must show its first content within 1.8 s on a slow phone; images are AVIF.',
    ['LCP', 'page speed', 'load time'],
    'How fast does the start page have to load?',
  ),
  fact(
    'decisions/monorepo',
    'We stay with one repository, because atomic changes across services matter more than clone time.',
    ['polyrepo', 'split up', 'architecture decision'],
    'Why did we not split the code into several repositories?',
  ),
]

/** Questions that no fact answers. */
export const UNANSWERED: readonly string[] = [
  'Which colour has the company car?',
  'How do I train the recommendation model?',
  'What is the licence of the firmware?',
  'When is the annual holiday party?',
  'Who designed the logo?',
  'How much does the office rent cost?',
  'What GPU does the render farm have?',
  'Which Kubernetes ingress controller is installed?',
  'How is the Bluetooth pairing implemented?',
  'Where is the spare projector lamp?',
  'What is the wifi password of the guest house?',
  'Which font does the annual report use?',
  'How do I calibrate the thermal printer?',
  'Is there a GraphQL subscription for weather?',
  'How many parking spots does the building offer?',
  'Which blockchain do we settle on?',
  'What was the score of the football match?',
  'How is the compiler bootstrapped?',
  'Who sells us coffee beans?',
  'Which drone firmware is approved?',
]
