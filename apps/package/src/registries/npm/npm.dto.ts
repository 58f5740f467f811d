import { Text } from '@rookery/api-v4';

/** Path of a package, or of a version or tag of it. */
const PATH = { in: 'path', max: 1000, about: 'Name with its scope. The slash may be encoded as `%2F`.' } as const;
const NAME = { in: 'path', max: 255, about: 'Name with its scope, whose slash is encoded as `%2F`.' } as const;

export class ShowNpmPackage {
  @Text({ in: 'path', max: 1000, about: 'Name with its scope; a version or tag may follow behind a slash.' })
  package_name: string;
  @Text({ in: 'header', header: 'accept', optional: true, max: 4096, about: 'Media types of the document.' })
  accept?: string;
}

/** The reference to the parent as the client wrote it stays the prefix of URLs in the document. */
export class ShowNpmPackageOfParent extends ShowNpmPackage {
  @Text({ in: 'path', max: 1000, about: 'Id or path.' }) id: string;
}

export class IdentifyNpmPackage {
  @Text(PATH) package_name: string;
}

export class IdentifyNpmTarball {
  @Text(NAME) package_name: string;
  @Text({ in: 'path', max: 1000, about: 'Name of the tarball, with or without the scope.' }) file_name: string;
}

export class IdentifyScopedNpmTarball {
  @Text({ in: 'path', max: 255, about: 'Scope with its `@`.' }) package_scope: string;
  @Text({ in: 'path', max: 255, about: 'Name without its scope.' }) package_name: string;
  @Text({ in: 'path', max: 1000, about: 'Name of the tarball, with or without the scope.' }) file_name: string;
}

export class IdentifyNpmTag extends IdentifyNpmPackage {
  @Text({ in: 'path', max: 255, about: 'Name of the tag.' }) tag: string;
}

export class UploadNpmPackage extends IdentifyNpmPackage {
  @Text({
    in: 'header',
    header: 'npm-session',
    optional: true,
    max: 255,
    about: 'Run of the client. A repeated request of one run publishes once.',
  })
  npm_session?: string;
}

export class RemoveNpmPackage extends IdentifyNpmPackage {
  @Text({ in: 'path', max: 255, about: '`_rev` of the document that the client read.' }) rev: string;
}

export class IdentifyNpmToken {
  @Text({ in: 'path', max: 1000, about: 'Access token. It stays valid.' }) token: string;
}

export class IdentifyNpmUser {
  @Text({ in: 'path', max: 1000, about: '`org.couchdb.user:` and a name.' }) user: string;
}

export class IdentifyUnknownNpmRoute {
  @Text({ in: 'path', max: 4000, about: 'Path that no route has.' }) path: string;
}
