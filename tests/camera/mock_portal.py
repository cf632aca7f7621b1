#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mock_portal.py ANSWER SOCKET READY: the camera portal of a desktop, as programs see it.

ANSWER is what the user says: allow, refuse, or nothing while the question stays open. SOCKET is
PipeWire's, to which an allowed program gets a connection. The file READY is made once the portal
can be asked, READY.asked once it was."""

import pathlib
import socket
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

ANSWER, SOCKET, READY = sys.argv[1:]
OBJECT = "/org/freedesktop/portal/desktop"


class Request(dbus.service.Object):
    @dbus.service.signal("org.freedesktop.portal.Request", signature="ua{sv}")
    def Response(self, code, results):
        pass


class Portal(dbus.service.Object):
    @dbus.service.method(
        "org.freedesktop.portal.Camera",
        in_signature="a{sv}",
        out_signature="o",
        sender_keyword="sender",
    )
    def AccessCamera(self, options, sender):
        path = f"{OBJECT}/request/{sender[1:].replace('.', '_')}/{options['handle_token']}"
        request = Request(self.connection, path)
        pathlib.Path(READY + ".asked").touch()
        if ANSWER != "nothing":
            code = 0 if ANSWER == "allow" else 1
            GLib.timeout_add(
                50, lambda: request.Response(dbus.UInt32(code), dbus.Dictionary(signature="sv"))
            )
        return dbus.ObjectPath(path)

    @dbus.service.method("org.freedesktop.portal.Camera", in_signature="a{sv}", out_signature="h")
    def OpenPipeWireRemote(self, _options):
        if ANSWER != "allow":
            raise dbus.exceptions.DBusException(
                "not allowed", name="org.freedesktop.DBus.Error.AccessDenied"
            )
        remote = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        remote.connect(SOCKET)
        return dbus.types.UnixFd(remote)


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
name = dbus.service.BusName("org.freedesktop.portal.Desktop", bus)
portal = Portal(bus, OBJECT)
pathlib.Path(READY).touch()
GLib.MainLoop().run()
