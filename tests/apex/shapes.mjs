// Has each metadata file the shape that the Metadata API's schema gives its type? Arguments: a project's folder, and types to pass over.
// Each fault is one line `path:line: text`. Exit code 0: none; 4: some.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { XMLParser, XMLValidator } from 'fast-xml-parser';

const require = createRequire(import.meta.url);
const { ApiSchemas } = require('@jsforce/jsforce-node/lib/api/metadata/schema.js');
const NAMESPACE = 'http://soap.sforce.com/2006/04/metadata';
const FAULTS = 4;

// Elements that Salesforce's own samples carry and this copy of the schema is too old to know.
const NEWER = {
  CustomPermission: { isLicensed: '?boolean' },
  CustomApplication: { isNavTabPersistenceDisabled: '?boolean', isOmniPinnedViewEnabled: '?boolean' },
  Flow: { apiVersion: '?number' },
};
// Types that it does not know at all are given as further arguments: their elements are held to a list of our own.
const UNKNOWN = new Set(process.argv.slice(3));

const parser = new XMLParser({ ignoreAttributes: false, parseTagValue: false, processEntities: true });
const faults = [];

function properties(type) {
  const schema = ApiSchemas[type];
  if (!schema) return null;
  return { ...(schema.extends ? properties(schema.extends) : {}), ...schema.props, ...NEWER[type] };
}

function scalarFault(type, value) {
  if (type === 'boolean' && !/^(true|false)$/.test(String(value))) return 'is not a boolean';
  if (type === 'number' && !/^-?\d+(\.\d+)?$/.test(String(value))) return 'is not a number';
  return null;
}

/** Compares one element with its type; `say` is told of each fault. */
function compare(type, element, at, say) {
  const known = properties(type);
  for (const [name, held] of Object.entries(element)) {
    if (name.startsWith('@_') || name === '#text') continue;
    if (!(name in known)) {
      say(name, `${at}/${name} is not an element of ${type}`);
      continue;
    }
    const many = Array.isArray(known[name]);
    const of = String(many ? known[name][0] : (known[name]?.type ?? known[name])).replace(/^\?/, '');
    const values = Array.isArray(held) ? held : [held];
    if (!many && values.length > 1) say(name, `${at}/${name} stands ${values.length} times, and may stand once`);
    for (const value of values) {
      const fault = scalarFault(of, value);
      if (fault) say(name, `${at}/${name} = '${value}' ${fault}`);
      if (ApiSchemas[of] && typeof value === 'object') compare(of, value, `${at}/${name}`, say);
    }
  }
  for (const [name, spec] of Object.entries(known)) {
    const optional = typeof spec !== 'string' || spec.startsWith('?');
    if (!optional && !(name in element) && name !== 'fullName') say(null, `${at} lacks <${name}>, which ${type} needs`);
  }
}

function check(file, shown) {
  const xml = fs.readFileSync(file, 'utf8');
  const lines = xml.split('\n');
  const say = (name, text) => faults.push(`${shown}:${name ? lines.findIndex((row) => row.includes(`<${name}`)) + 1 : 0}: ${text}`);
  const valid = XMLValidator.validate(xml);
  if (valid !== true) {
    faults.push(`${shown}:${valid.err.line}: not well-formed: ${valid.err.msg}`);
    return;
  }
  const whole = parser.parse(xml);
  const [type] = Object.keys(whole).filter((name) => name !== '?xml');
  const name = path.basename(file).split('.')[0];
  const root = whole[type] === '' ? {} : whole[type];
  if (root['@_xmlns'] !== NAMESPACE) say(type, `the namespace of <${type}> is ${root['@_xmlns']}`);
  if (UNKNOWN.has(type)) return;
  if (!ApiSchemas[type]) {
    say(type, `<${type}> is no type of the Metadata API`);
    return;
  }
  if (typeof root.fullName === 'string' && root.fullName !== name) say('fullName', `fullName ${root.fullName} is not the file's name`);
  compare(type, root, type, say);
}

const project = process.argv[2];
for (const name of fs.readdirSync(path.join(project, 'force-app'), { recursive: true }).sort()) {
  if (name.endsWith('-meta.xml')) check(path.join(project, 'force-app', name), path.posix.join('force-app', name));
}
faults.forEach((fault) => console.log(fault));
process.exit(faults.length ? FAULTS : 0);
