import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { holdsPrivateKey, looksSecret } from '../../src/context/secrets.ts'

describe('files that look like secrets', () => {
  const secret = [
    '.env',
    '.env.local',
    'app/.ENV.production',
    'tls/server.pem',
    'server.key',
    'id_rsa',
    'home/.ssh/config',
    'credentials',
    'credentials.json',
    'aws_credentials.ini',
    'config/secrets.yml',
    'secrets/a.txt',
    '.npmrc',
    '.netrc',
    'infra/prod.tfstate',
    'service-account-prod.json',
    '.aws/config',
    '.git-credentials',
    'client_secret.json',
    'deploy/prod.env',
    'docker.env.local',
    'app.env.yaml',
    '.dev.vars',
    '.dev.vars.staging',
    '.dockerconfigjson',
    'passwords.txt',
    'etc/passwd',
    'token.txt',
    'github_token',
    'tokens.json',
    'auth.json',
    'api/local.settings.json',
    'terraform.tfstate.backup',
    'prod.auto.tfvars.json',
    'server.key.bak',
    'server.pem.old',
    'tls/server.key~',
    'id_rsa.orig',
    '.netrc.bak',
    '.npmrc.old',
    '.yarnrc.yml',
    '.yarnrc',
    '.s3cfg',
    '.terraformrc',
    '.flaskenv',
    '.bash_history',
    '.psql_history',
    '.node_repl_history',
    '.config/gh/hosts.yml',
    'passwords.txt.bak',
    'auth.json.bak',
  ]
  const open = [
    'src/environment.ts',
    'src/keyboard.ts',
    'docs/keys.md',
    'monkey.ts',
    'src/secretary.ts',
    'README.md',
    'src/env.ts',
    'vite.env.d.ts',
    'test/jest.env.js',
    'src/tokens.ts',
    'password-field.tsx',
    'tokenizer.py',
    'tokenizer.json',
    'theme/design-tokens.json',
    'tokens.css',
    'src/passwd.c',
    'auth.ts',
    '.github/workflows/auth-test.yml',
    'docs/passwords.md',
    'settings.json',
    'monkey.json',
    'src/key.json.ts',
    'locales/en.key.ts',
    'docs/history.md',
    'src/order_history.ts',
    'etc/hosts.yml',
    'terraform/main.tf',
    'README.md.bak',
  ]

  for (const path of secret) it(`hides the text of ${path}`, () => assert.equal(looksSecret(path), true))
  for (const path of open) it(`shows the text of ${path}`, () => assert.equal(looksSecret(path), false))

  it('knows a private key in whatever file', () => {
    assert.equal(holdsPrivateKey('x\n-----BEGIN OPENSSH PRIVATE KEY-----\nabc'), true)
    assert.equal(holdsPrivateKey('---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nabc'), true)
    assert.equal(holdsPrivateKey('PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none'), true)
    assert.equal(holdsPrivateKey('-----BEGIN PUBLIC KEY-----'), false)
    assert.equal(holdsPrivateKey('---- BEGIN SSH2 PUBLIC KEY ----'), false)
  })
})
