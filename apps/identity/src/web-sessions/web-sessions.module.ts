import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { WebSession } from './web-session.entity';
import { WebSessionsController } from './web-sessions.controller';
import { WebSessionsService } from './web-sessions.service';

/** Sessions of browsers on the web pages. */
@Owns(WebSession)
@Module({ controllers: [WebSessionsController], providers: [WebSessionsService] })
export class WebSessionsModule {}
