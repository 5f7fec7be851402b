/** A fact, other words for it, and a question of somebody who forgot how it was written down. */
export interface UnseenFact {
  key: string
  value: string
  also: readonly string[]
  question: string
}

const fact = (key: string, value: string, also: readonly string[], question: string): UnseenFact => ({
  key,
  value,
  also,
  question,
})

/**
 * SYNTHETIC facts of an invented maker of a booking app for physiotherapists. The facts and `also` were written before the
 * questions, the questions before the search was asked any. Nothing is fitted on them.
 */
export const UNSEEN_FACTS: readonly UnseenFact[] = [
  fact(
    'app/framework',
    'The mobile app is React Native 0.76 with Expo; no native modules of our own.',
    ['ios', 'android', 'phone client'],
    'What is the mobile app written in?',
  ),
  fact(
    'app/release',
    'Store builds go out every second Tuesday through EAS; hotfixes go over the air within the hour.',
    ['app store', 'publish', 'ota update'],
    'When do we publish a new build to the stores?',
  ),
  fact(
    'api/versioning',
    'The API has a version in the path; v2 stays until March 2027, v3 is the current one.',
    ['deprecation', 'old clients', 'breaking change'],
    'How long does the old version of the API stay?',
  ),
  fact(
    'api/pagination',
    'Lists are paged by an opaque cursor, 50 items at most; offset was removed in v3.',
    ['next page', 'limit', 'offset'],
    'How does one get the next page of a list?',
  ),
  fact(
    'api/rate-limit',
    'Each clinic may send 120 requests a minute; the answer 429 has a Retry-After header.',
    ['throttling', 'too many requests', 'quota'],
    'How many requests may a clinic send?',
  ),
  fact(
    'db/engine',
    'Bookings are in PostgreSQL 16 on RDS, with pgbouncer in transaction mode before it.',
    ['database', 'connection pooler', 'sql server'],
    'Which database holds the bookings?',
  ),
  fact(
    'db/prepared',
    'Prepared statements are off, since pgbouncer in transaction mode loses them.',
    ['driver setting', 'statement cache', 'orm'],
    'Why are prepared statements switched off?',
  ),
  fact(
    'db/migrations',
    'Migrations run with atlas in the deploy job; adding a column with a default needs two steps.',
    ['schema change', 'alter table', 'ddl'],
    'How do I add a column to a table safely?',
  ),
  fact(
    'db/timezone',
    'All times are stored in UTC; the clinic row has the zone in which they are shown.',
    ['daylight saving', 'local time', 'dates'],
    'In which time zone are appointments stored?',
  ),
  fact(
    'calendar/sync',
    'Google calendars are synchronized by push channels that expire after seven days and are renewed at night.',
    ['gcal', 'webhook', 'outlook'],
    'Why did the Google calendar stop synchronizing after a week?',
  ),
  fact(
    'calendar/overlap',
    'Double bookings are prevented by an exclusion constraint on practitioner and time range.',
    ['conflict', 'two patients at once', 'gist'],
    'What prevents double bookings?',
  ),
  fact(
    'payments/provider',
    'Card payments go through Mollie; invoices to insurers are sent by the tool Medidoc.',
    ['psp', 'credit card', 'billing'],
    'Who processes our card payments?',
  ),
  fact(
    'payments/refund',
    'Refunds above 200 euros need the approval of Ines in the back office.',
    ['money back', 'chargeback', 'four eyes'],
    'Whose approval does a large refund need?',
  ),
  fact(
    'payments/vat',
    'Treatments are free of VAT; products such as tapes have 21 percent.',
    ['tax', 'sales tax', 'invoice'],
    'How much VAT is on products?',
  ),
  fact(
    'auth/patients',
    'Patients sign in with a code by SMS, valid for five minutes; there are no passwords.',
    ['login', 'otp', 'magic link'],
    'How do patients sign in?',
  ),
  fact(
    'auth/staff',
    'Staff use passkeys, with a recovery code that the practice owner prints.',
    ['webauthn', 'mfa', 'lost phone'],
    'What does staff do without its passkey?',
  ),
  fact(
    'auth/session',
    'Sessions of staff end after eight hours, those of patients after thirty days.',
    ['logout', 'cookie lifetime', 'expiry'],
    'After how many hours does a session of the staff end?',
  ),
  fact(
    'privacy/retention',
    'Records of treatments are kept for twenty years by law; chat messages for two.',
    ['gdpr', 'delete data', 'archive'],
    'For how many years must we keep treatment records?',
  ),
  fact(
    'privacy/logs',
    'Names and birth dates never go into logs; use the patient number.',
    ['pii', 'masking', 'personal data'],
    'May I log the name of a patient?',
  ),
  fact(
    'sms/provider',
    'Text messages go through MessageBird; the sender name Physio is registered for six countries.',
    ['twilio', 'notifications', 'sender id'],
    'Through whom are text messages sent?',
  ),
  fact(
    'sms/reminder',
    'Reminders leave 24 hours before an appointment, never between 21:00 and 8:00.',
    ['notification', 'quiet hours', 'no show'],
    'When is the reminder of an appointment sent?',
  ),
  fact(
    'mail/bounces',
    'Addresses that bounce twice are marked and get letters instead.',
    ['undeliverable', 'postmark', 'email'],
    'What happens with addresses that bounce?',
  ),
  fact(
    'infra/cloud',
    'Everything runs on ECS Fargate in eu-central-1; staging is in a separate account.',
    ['aws', 'hosting', 'region'],
    'In which region does everything run?',
  ),
  fact(
    'infra/secrets',
    'Secrets are in AWS Secrets Manager below /physio; never in the task definition.',
    ['credentials', 'env vars', 'vault'],
    'Where are the secrets kept?',
  ),
  fact(
    'infra/cdn',
    'Pictures are resized by imgproxy behind CloudFront; originals stay private in S3.',
    ['images', 'thumbnails', 'cache'],
    'How are pictures resized?',
  ),
  fact(
    'infra/cost',
    'The NAT gateway was half of the bill, so images come through VPC endpoints.',
    ['expensive', 'aws bill', 'savings'],
    'What made up half of the cloud bill?',
  ),
  fact(
    'ci/runner',
    'CI runs on Buildkite with four agents; a full run takes eleven minutes.',
    ['pipeline', 'github actions', 'build time'],
    'How long does a full CI run take?',
  ),
  fact(
    'ci/flaky',
    'The test of the calendar widget fails at the change to summer time; rerun it with TZ=UTC.',
    ['unstable test', 'dst', 'quarantine'],
    'Why does the calendar widget test fail sometimes?',
  ),
  fact(
    'ci/preview',
    'Each pull request gets a preview at pr-NUMBER.physio.dev that is removed after three days.',
    ['review app', 'staging link', 'demo'],
    'Where can I see the preview of a pull request?',
  ),
  fact(
    'tests/data',
    'Test data is made by the script seed:clinic with invented patients; copies of production are forbidden.',
    ['fixtures', 'dump', 'sample data'],
    'How do I get test data with patients?',
  ),
  fact(
    'style/errors',
    'Errors have a code in SCREAMING_CASE and a text for people in Dutch and English.',
    ['exceptions', 'messages', 'translation'],
    'In which languages do we write error texts?',
  ),
  fact(
    'style/imports',
    'Imports across features go through the index file of the feature; ESLint enforces it.',
    ['lint', 'module boundaries', 'barrel'],
    'How may one feature import from another?',
  ),
  fact(
    'ui/colors',
    'Colors come from tokens in theme.json; hex values in components fail the lint.',
    ['palette', 'design system', 'dark mode'],
    'Where do the colors of components come from?',
  ),
  fact(
    'ui/a11y',
    'Forms must work at 200 percent zoom and with VoiceOver; Noor tests before each release.',
    ['accessibility', 'screen reader', 'wcag'],
    'Who tests forms with VoiceOver?',
  ),
  fact(
    'search/engine',
    'Patients are searched with Meilisearch, which is filled by logical replication.',
    ['elastic', 'index', 'lookup'],
    'With what do we search patients?',
  ),
  fact(
    'oncall/rota',
    'On call changes on Mondays at 10:00; the phone is answered by the one in the topic of #ops.',
    ['pager', 'incident', 'duty'],
    'On which day does on call change?',
  ),
  fact(
    'oncall/runbook',
    'When bookings fail, first look at the queue depth in Grafana, then restart the worker booking-sync.',
    ['incident', 'outage', 'troubleshooting'],
    'What do I look at first when bookings fail?',
  ),
  fact(
    'partners/insurer',
    'The insurer VGZ sends claims as EDIFACT files over SFTP at 4:00.',
    ['health insurance', 'import', 'declaration'],
    'In what format does the insurer send claims?',
  ),
  fact(
    'decisions/graphql',
    'We tried GraphQL in 2024 and went back to REST, since caching by the CDN was lost.',
    ['adr', 'why not', 'query language'],
    'Why did we go back from GraphQL to REST?',
  ),
  fact(
    'people/design',
    'Lotte does the design; ask her before a new component is made.',
    ['figma', 'ux', 'contact'],
    'Whom do I ask before making a new component?',
  ),
]

/** Questions that none of the facts answers. */
export const UNSEEN_UNANSWERABLE: readonly string[] = [
  'Which printer do we use in the office?',
  'What is the salary of a junior engineer?',
  'How do I book a train to the conference?',
  'Which font does the logo have?',
  'Is there a discount for students at the gym?',
  'Who won the football game yesterday?',
  'How do I compile the Linux kernel?',
  'Where does the coffee machine get its beans?',
  'What is the license of our fork of ffmpeg?',
  'How is the robot vacuum charged?',
  'Which shard holds the tweets of 2019?',
  'How many parking lots are behind the building?',
  'What was the bitcoin price at new year?',
  'Which Kubernetes operator scales the brokers?',
  'How do we translate the novel into French?',
  'What does the gardener do in winter?',
  'Which satellite takes the weather photos?',
  'How hot may the oven of the canteen get?',
  'Where is the violin of the orchestra repaired?',
  'Who painted the wall in the stairway?',
]
