// Does the command line's own library convert the project for deployment, and is every file part of it?
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
if (!manifest.includes(`<version>${version}</version>`)) faults.push(`sfdx-project.json:0: package.xml is not of API ${version}`);
faults.forEach((fault) => console.log(fault));
process.exit(faults.length ? FAULTS : 0);
