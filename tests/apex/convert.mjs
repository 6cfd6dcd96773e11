// Does the command line's own library convert the project for deployment, is every file part of it, and is it all deleted?
// Arguments: a project's folder, and an empty folder for the result. Each fault is one line `path:line: text`.
// Exit code 0: none; 4: some.
import fs from 'node:fs';
import path from 'node:path';
import sdr from '@salesforce/source-deploy-retrieve';

const { ComponentSet, MetadataConverter, registry } = sdr;
const FAULTS = 4;
const [project, out] = process.argv.slice(2);
const version = JSON.parse(fs.readFileSync(path.join(project, 'sfdx-project.json'), 'utf8')).sourceApiVersion;
const root = path.join(project, 'force-app');
const faults = [];
const shown = (file) => path.relative(project, file);

const parts = ComponentSet.fromSource(root);
parts.sourceApiVersion = version;
await new MetadataConverter().convert(parts, 'metadata', {
  type: 'directory', outputDirectory: out, packageName: 'package', genUniqueDir: false,
});
const manifest = fs.readFileSync(path.join(out, 'package', 'package.xml'), 'utf8');
const listed = new Map();
for (const [, block] of manifest.matchAll(/<types>([\s\S]*?)<\/types>/g)) {
  const [, type] = /<name>(.*?)<\/name>/.exec(block);
  listed.set(type, new Set([...block.matchAll(/<members>(.*?)<\/members>/g)].map(([, name]) => name)));
}

// A file is part of the project if a component claims it, and deployed if the manifest names that component or its parent.
const claimed = new Set();
const contents = new Map(Object.values(registry.types).map((type) => [type.id, type.name]));
// The manifest names a folder among what it holds, with a slash.
const isListed = ({ type, fullName }) => type.folderContentType
  ? listed.get(contents.get(type.folderContentType))?.has(`${fullName}/`)
  : listed.get(type.name)?.has(fullName);
const named = (part) => Boolean(part) && (isListed(part) || named(part.parent));
for (const part of parts.getSourceComponents().toArray().flatMap((whole) => [whole, ...whole.getChildren()])) {
  const files = [part.xml, ...(part.content && fs.statSync(part.content).isFile() ? [part.content] : []), ...part.walkContent()];
  for (const file of files.filter(Boolean)) {
    claimed.add(path.resolve(file));
    if (!named(part)) faults.push(`${shown(file)}:0: ${part.type.name} ${part.fullName} is not in package.xml`);
  }
}
for (const name of fs.readdirSync(root, { recursive: true }).sort()) {
  const file = path.join(root, name);
  if (fs.statSync(file).isFile() && !claimed.has(path.resolve(file))) faults.push(`${shown(file)}:0: no part of any component: it is not deployed`);
}
// Where the project says how it is taken out again: every component is deleted, by its own name or with its object.
const removal = path.join(project, 'removal');
if (fs.existsSync(removal)) {
  const deleted = new Set();
  for (const step of fs.readdirSync(removal)) {
    const text = fs.readFileSync(path.join(removal, step, 'destructiveChanges.xml'), 'utf8');
    for (const [, block] of text.matchAll(/<types>([\s\S]*?)<\/types>/g)) {
      const [, type] = /<name>(.*?)<\/name>/.exec(block);
      for (const [, name] of block.matchAll(/<members>(.*?)<\/members>/g)) deleted.add(`${type} ${name}`);
    }
  }
  const typed = (part) => part.type.folderContentType ? contents.get(part.type.folderContentType) : part.type.name;
  const whole = ({ type, fullName }) => {
    if (type.name === 'Layout') return `CustomObject ${fullName.split('-')[0]}`;
    return type.name === 'CustomMetadata' ? `CustomObject ${fullName.split('.')[0]}__mdt` : '';
  };
  const goes = (part) => deleted.has(`${typed(part)} ${part.fullName}`) || deleted.has(whole(part))
    || Boolean(part.parent && goes(part.parent));
  // An object that is only extended is no part of its own.
  const isExtended = ({ type, fullName }) => type.name === 'CustomObject' && !fullName.includes('__');
  for (const part of parts.getSourceComponents().toArray().flatMap((one) => [one, ...one.getChildren()])) {
    if (!isExtended(part) && !goes(part)) faults.push(`${shown(part.xml)}:0: ${typed(part)} ${part.fullName} is not in removal`);
  }
}
if (!manifest.includes(`<version>${version}</version>`)) faults.push(`sfdx-project.json:0: package.xml is not of API ${version}`);
faults.forEach((fault) => console.log(fault));
process.exit(faults.length ? FAULTS : 0);
