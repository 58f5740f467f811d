import { Module } from '@nestjs/common';
import { TokensModule } from '../tokens/tokens.module';
import { UsersModule } from '../users/users.module';
import { BootstrapCommand } from './bootstrap.command';

/** The first administrator of an instance, and their token. */
@Module({ imports: [TokensModule, UsersModule], providers: [BootstrapCommand] })
export class BootstrapModule {}
